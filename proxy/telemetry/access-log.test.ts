import { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import { expect, test } from 'vitest'
import { logPrompt } from './access-log.ts'

function logTo(lines: Record<string, unknown>[], level = 'info'): Logger {
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    lines.push(JSON.parse(String(chunk)))
    done()
  }
  return pino({ base: null, level }, new Writable({ write }))
}

test('a prompt is logged as it came, and a long one only as far as 16 KiB', () => {
  const lines: Record<string, unknown>[] = []
  const log = logTo(lines)
  logPrompt(log, 'r-1', Buffer.from('{"a":"é"}'))
  logPrompt(log, 'r-2', Buffer.alloc(100_000, 'x'))
  expect(lines[0]).toMatchObject({ request_id: 'r-1', bytes: 10, truncated: false, prompt: '{"a":"é"}' })
  expect(lines[1]).toMatchObject({ request_id: 'r-2', bytes: 100_000, truncated: true })
  expect(lines[1]!.prompt).toHaveLength(16 * 1024)
})

test('no prompt is logged above the level of information', () => {
  const lines: Record<string, unknown>[] = []
  logPrompt(logTo(lines, 'warn'), 'r', Buffer.from('secret'))
  expect(lines).toEqual([])
})
