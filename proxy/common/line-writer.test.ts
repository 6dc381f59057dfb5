import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LineWriter } from './log.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-lines-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Creates a pipe with a reader that does not read. */
function fullPipe(within: string): { path: string; reader: number } {
  const path = join(within, 'pipe')
  execFileSync('mkfifo', [path])
  return { path, reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
}

const linesOf = (count: number, width = 10): string[] =>
  Array.from({ length: count }, (_, i) => `${String(i).padStart(width, '0')}\n`)

test('lines arrive whole and in order, however many are written at once', async () => {
  const path = join(folder, 'log')
  const writer = new LineWriter(openSync(path, 'a'))
  const lines = linesOf(5_000, 100)
  for (const line of lines) writer.write(line)
  while (readFileSync(path).length < lines.length * 101) await delay(5)
  writer.write('last\n')
  while (!readFileSync(path, 'utf8').endsWith('last\n')) await delay(5)
  expect(readFileSync(path, 'utf8')).toBe(`${lines.join('')}last\n`)
})

test('what still waits when the process ends is written', async () => {
  const path = join(folder, 'log')
  const writer = new LineWriter(openSync(path, 'a'))
  const lines = linesOf(100)
  for (const line of lines) writer.write(line)
  writer.flush()
  // the first line is already being written
  while (readFileSync(path).length < 1_100) await delay(5)
  expect(readFileSync(path, 'utf8').split('\n').sort()).toEqual([...lines.map((line) => line.trim()), ''].sort())
})

test('what waits is bounded: lines beyond it are dropped', async () => {
  const path = join(folder, 'log')
  const writer = new LineWriter(openSync(path, 'a'))
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
  for (let i = 0; i < 20; i++) writer.write(line)
  writer.flush()
  await delay(100)
  const written = readFileSync(path).length / line.length
  expect(written).toBeGreaterThanOrEqual(4)
  expect(written).toBeLessThanOrEqual(5)
})

test.skipIf(!existsSync('/dev/full'))('a full disk costs lines, neither time nor errors', async () => {
  const writer = new LineWriter(openSync('/dev/full', 'w'))
  for (const line of linesOf(1_000)) writer.write(line)
  await delay(20)
  writer.write('one more\n')
  const waits = vi.spyOn(Atomics, 'wait')
  writer.flush()
  expect(waits).not.toHaveBeenCalled()
  waits.mockRestore()
})

test.skipIf(process.platform === 'win32')('a clock that jumps does not change how long the end may take', () => {
  // a pipe that nobody reads fills up, and stays full
  const { path, reader } = fullPipe(folder)
  const writer = new LineWriter(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
  for (const line of linesOf(2_000, 1_000)) writer.write(line)
  let hours = 0
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => 3_600_000 * hours++)
  const waits = vi.spyOn(Atomics, 'wait')
  writer.flush()
  const tried = waits.mock.calls.length
  clock.mockRestore()
  waits.mockRestore()
  closeSync(reader)
  // each waits for at least 10 ms, out of 250 in total
  expect(tried).toBeGreaterThan(0)
  expect(tried).toBeLessThanOrEqual(26)
})

test('a descriptor that is closed costs lines and nothing else', async () => {
  const writer = new LineWriter(99_999)
  writer.write('line\n')
  await delay(20)
  writer.write('line\n')
  expect(() => writer.flush()).not.toThrow()
})

test('the last lines are in order where their writing is waited for, and nobody who does not read is waited for', async () => {
  const path = join(folder, 'log')
  const writer = new LineWriter(openSync(path, 'a'))
  for (const line of linesOf(3_000)) writer.write(line)
  writer.write('stopped\n')
  await writer.written()
  writer.flush()
  expect(readFileSync(path, 'utf8')).toBe(`${linesOf(3_000).join('')}stopped\n`)

  const { path: pipe, reader } = fullPipe(folder)
  const stuck = new LineWriter(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
  for (const line of linesOf(2_000, 100)) stuck.write(line)
  await stuck.written()
  closeSync(reader)
})
