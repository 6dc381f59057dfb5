import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runOpenSteps, type SetupStep } from './setup-step.ts'

describe('runOpenSteps', () => {
  let cache: string
  let ran: string[]
  let reported: string[]

  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'reprise-setup-'))
    ran = []
    reported = []
  })

  afterEach(() => rm(cache, { recursive: true }))

  const step = (name: string, overrides: Partial<SetupStep> = {}): SetupStep => ({
    name,
    announcement: `step ${name}`,
    bytes: 0,
    product: join(cache, name),
    inputs: ['1'],
    run: async () => {
      ran.push(name)
      await writeFile(join(cache, name), '')
    },
    ...overrides,
  })

  const run = (steps: readonly SetupStep[]): Promise<void> => runOpenSteps(cache, steps, (line) => reported.push(line))

  it('runs every step once', async () => {
    await run([step('a'), step('b')])
    await run([step('a'), step('b')])
    expect(ran).toEqual(['a', 'b'])
    expect(reported).toEqual(['[1/2] step a', '[2/2] step b'])
  })

  it('goes on after the last step that was finished', async () => {
    const failing = step('b', { run: () => Promise.reject(new Error('no network')) })
    await expect(run([step('a'), failing])).rejects.toThrow('no network')
    await run([step('a'), step('b')])
    expect(ran).toEqual(['a', 'b'])
  })

  it('runs a step whose inputs have changed again, and those that build on it', async () => {
    await run([step('a'), step('b'), step('c')])
    await run([step('a'), step('b', { inputs: ['2'] }), step('c')])
    expect(ran).toEqual(['a', 'b', 'c', 'b', 'c'])
  })

  it('runs a step again whose product is gone', async () => {
    await run([step('a')])
    await rm(join(cache, 'a'))
    await run([step('a')])
    expect(ran).toEqual(['a', 'a'])
  })

  it('begins nothing when the disk is too full for it', async () => {
    const huge = step('a', { bytes: 1e18 })
    await expect(run([huge])).rejects.toThrow(/GB free and the set-up needs 1000000000\.0 GB/)
    expect(ran).toEqual([])
  })
})
