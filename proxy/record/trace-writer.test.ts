import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TraceWriter } from './trace-writer.ts'

let folder: string
let faults: unknown[]
let writer: TraceWriter

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-trace-'))
  faults = []
})

afterEach(async () => {
  await writer.close()
  rmSync(folder, { recursive: true, force: true })
})

function open(partBytes = 2 ** 20, maxBytes = 2 ** 30): void {
  let now = Date.UTC(2026, 0, 1)
  writer = new TraceWriter({ folder, partBytes, maxBytes, now: () => now++, onFault: (fault) => faults.push(fault) })
}

/** Writes a request that is random enough to be hard to compress. */
const write = (number: number, ids: string[]): void =>
  writer.write({ query_id: number, blocks: ids }, ids, (at) => ({ text: `${ids[at]} ${Math.sin(number + at)}` }))

const parts = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('2026'))
    .toSorted()

function read(part: string, file: string): { id?: string; query_id?: number; blocks?: string[] }[] {
  const lines = gunzipSync(readFileSync(join(folder, part, file)))
    .toString()
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as { id?: string })
}

test('what is flushed can be read at once, and every block once', async () => {
  open()
  write(1, ['a', 'b'])
  await writer.flush()
  write(2, ['b', 'c'])
  await writer.flush()
  const [part] = parts()
  expect(read(part!, 'blocks.jsonl.gz').map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  expect(read(part!, 'queries.jsonl.gz').map(({ query_id }) => query_id)).toEqual([1, 2])
})

test('every part has all that its requests name, and the oldest parts go', async () => {
  open(300, 3_000)
  mkdirSync(join(folder, 'mine'))
  writeFileSync(join(folder, 'mine', 'notes'), 'x'.repeat(10_000))
  for (let i = 0; i < 60; i++) {
    write(i, [`a${i % 3}`, `b${i}`])
    await writer.flush()
  }
  const all = parts().filter((part) => existsSync(join(folder, part, 'queries.jsonl.gz')))
  expect(all.length).toBeGreaterThan(1)
  for (const part of all) {
    const known = new Set(read(part, 'blocks.jsonl.gz').map(({ id }) => id))
    for (const { blocks } of read(part, 'queries.jsonl.gz')) expect(blocks!.every((id) => known.has(id))).toBe(true)
  }
  const numbers = all.flatMap((part) => read(part, 'queries.jsonl.gz').map(({ query_id }) => query_id!))
  expect(numbers.at(-1)).toBe(59)
  expect(numbers[0]).toBeGreaterThan(0)
  expect(existsSync(join(folder, 'mine', 'notes'))).toBe(true)
})

test('a disk that fails is told of once, and what is lost is counted; it goes on when it is back', async () => {
  open()
  const [part] = parts()
  rmSync(join(folder, part!), { recursive: true })
  for (const number of [1, 2]) {
    write(number, ['a'])
    await writer.flush()
  }
  expect([faults.length, writer.lost]).toEqual([1, 2])
  mkdirSync(join(folder, part!))
  write(3, ['a'])
  await writer.flush()
  expect(read(part!, 'blocks.jsonl.gz').map(({ id }) => id)).toEqual(['a'])
  expect(read(part!, 'queries.jsonl.gz').map(({ query_id }) => query_id)).toEqual([3])
})

test('a folder in which none can be made is refused', () => {
  open()
  const at = (place: string): TraceWriter =>
    new TraceWriter({ folder: place, partBytes: 1, maxBytes: 1, now: () => 0, onFault: () => undefined })
  writeFileSync(join(folder, 'file'), '')
  expect(() => at(join(folder, 'file', 'traces'))).toThrow('ENOTDIR')
  // Node's own recursive mkdir hangs here
  if (existsSync('/proc/self')) expect(() => at('/proc/traces')).toThrow('ENOENT')
})

test('a part that cannot be begun is told once, and what it would have held is lost', async () => {
  open(1)
  write(1, ['a'])
  await writer.flush()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  for (const number of [2, 3]) {
    write(number, ['a'])
    await writer.flush()
  }
  expect(faults).toHaveLength(1)
  expect(writer.lost).toBe(2)
  rmSync(folder)
  write(4, ['a'])
  await writer.flush()
  write(5, ['a'])
  await writer.flush()
  expect(parts().flatMap((part) => read(part, 'queries.jsonl.gz').map(({ query_id }) => query_id))).toContain(5)
})
