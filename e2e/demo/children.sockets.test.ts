import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Children } from './children.ts'

// a process that starts another and waits; both hold its stdout open
const PARENT = `
  const { spawn } = require('node:child_process')
  spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)'], { stdio: 'inherit' })
  setInterval(() => {}, 1000)
`

describe('Children', () => {
  it('stops a child and what the child has started', async () => {
    const children = new Children()
    const child = children.start(process.execPath, ['-e', PARENT])
    await once(child.stdout, 'line')
    const closed = once(child.stdout, 'close')
    await child.stop()
    await expect(closed).resolves.toBeDefined()
  })

  it('stops all that is still running', async () => {
    const children = new Children()
    const started = [1, 2].map(() => children.start(process.execPath, ['-e', PARENT]))
    await Promise.all(started.map((child) => once(child.stdout, 'line')))
    await children.stopAll()
    await expect(Promise.all(started.map((child) => child.ended))).resolves.toBeDefined()
  })

  it('keeps the last lines for an error message', async () => {
    const child = new Children().start(process.execPath, ['-e', 'console.error("no such model"); process.exit(1)'])
    await child.ended
    await expect.poll(child.tail).toBe('no such model')
  })

  it('names a command that fails or cannot be run', async () => {
    const children = new Children()
    await expect(children.run(process.execPath, ['-e', 'process.exit(3)'])).rejects.toThrow(/^failed: .*exit\(3\)/)
    await expect(children.run('no-such-command', [])).rejects.toThrow(/^cannot run no-such-command: /)
  })
})
