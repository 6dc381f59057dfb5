import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TraceWriter, type TraceWriterOptions } from './trace-writer.ts'

let folder: string
let faults: unknown[]
let counts: { written: number; lost: number }
let now: number
let writer: TraceWriter

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-trace-'))
  faults = []
  counts = { written: 0, lost: 0 }
  now = Date.UTC(2026, 0, 1)
})

afterEach(async () => {
  vi.restoreAllMocks()
  await writer.close()
  rmSync(folder, { recursive: true, force: true })
})

function create(options: Partial<TraceWriterOptions> = {}): TraceWriter {
  return new TraceWriter({
    folder,
    partBytes: 2 ** 20,
    now: () => now++,
    capacityTokens: () => undefined,
    onWritten: (requests) => {
      counts.written += requests
    },
    onLost: (requests) => {
      counts.lost += requests
    },
    onFault: (fault) => faults.push(fault),
    ...options,
  })
}

function open(partBytes = 2 ** 20, mostBytes = 2 ** 30): void {
  writer = create({ partBytes, mostBytes })
}

/** Writes a request that is random enough to be hard to compress. */
const write = (number: number, ids: string[], to = writer): void =>
  to.write(
    JSON.stringify({ query_id: number, blocks: ids }),
    ids.map((id, at) => ({ id, text: `${id} ${Math.sin(number + at)}` })),
  )

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

/** Lets the next write to a file put only half of its bytes on a disk that is full from then on, until it is called. */
async function fillDisk(): Promise<() => void> {
  const handle = await openFile(folder)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const { appendFile } = prototype
  const full = vi.spyOn(prototype, 'appendFile').mockImplementation(async function (this: FileHandle, data) {
    await appendFile.call(this, data.slice(0, data.length / 2))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  })
  return () => full.mockRestore()
}

/** Reads everything in the folder. Fails if a request names a block that its part lacks. */
function readAll(): number[] {
  const whole = parts().filter((part) => existsSync(join(folder, part, 'queries.jsonl.gz')))
  return whole.flatMap((part) => {
    const known = read(part, 'blocks.jsonl.gz').map(({ id }) => id)
    expect(new Set(known).size).toBe(known.length)
    return read(part, 'queries.jsonl.gz').map(({ query_id, blocks }) => {
      for (const id of blocks!) expect(known).toContain(id)
      return query_id!
    })
  })
}

test('a full disk costs what arrives while it is full: it is told of once, counted, and leaves whole files', async () => {
  open()
  write(1, ['a'])
  await writer.flush()
  const empty = await fillDisk()
  for (const number of [2, 3]) {
    write(number, ['a', `b${number}`])
    await writer.flush()
  }
  empty()
  write(4, ['a', 'b2'])
  await writer.flush()
  expect(readAll()).toEqual([1, 4])
  expect(parts()).toHaveLength(1)
  expect([faults.length, counts]).toEqual([1, { written: 2, lost: 2 }])
})

test('where half a member cannot be taken back, a new part begins', async () => {
  open()
  write(1, ['a'])
  await writer.flush()
  const [first] = parts()
  const file = join(folder, first!, 'blocks.jsonl.gz')
  rmSync(file)
  // nothing can be written here, nor taken back
  mkdirSync(file)
  write(2, ['a', 'b'])
  await writer.flush()
  rmSync(join(folder, first!), { recursive: true })
  expect(readAll()).toEqual([2])
  expect([faults.length, counts]).toEqual([0, { written: 2, lost: 0 }])
})

test.each([
  ['its folder', (part: string) => rmSync(part, { recursive: true })],
  ['the folder of all', () => rmSync(folder, { recursive: true })],
  ['one of its files', (part: string) => rmSync(join(part, 'blocks.jsonl.gz'))],
  ['the content of one', (part: string) => writeFileSync(join(part, 'queries.jsonl.gz'), '')],
])('a part is begun anew, with all that its requests name, when %s is gone', async (_title, remove) => {
  open()
  write(1, ['a', 'b'])
  await writer.flush()
  const [first] = parts()
  remove(join(folder, first!))
  write(2, ['a', 'c'])
  await writer.flush()
  write(3, ['c'])
  await writer.flush()
  if (existsSync(join(folder, first!))) rmSync(join(folder, first!), { recursive: true })
  expect(readAll()).toEqual([2, 3])
  expect([faults.length, counts.lost]).toEqual([0, 0])
})

test('two proxies that write to one folder leave each other their parts, and drop only what is written no more', async () => {
  open(300, 2_000)
  const slow = create()
  const dead = create()
  for (const other of [slow, dead]) {
    write(1_000, ['x'], other)
    await other.flush()
  }
  const [, slowPart, deadPart] = parts()
  // a proxy that was killed touches nothing any more
  vi.spyOn(dead, 'flush').mockResolvedValue()
  for (let i = 0; i < 30; i++) {
    now += 60_000
    write(i, [`a${i}`])
    await writer.flush()
    await slow.flush()
  }
  expect(parts()).toContain(slowPart)
  expect(parts()).not.toContain(deadPart)
  write(1_001, ['x'], slow)
  await slow.flush()
  expect(read(slowPart!, 'queries.jsonl.gz').map(({ query_id }) => query_id)).toEqual([1_000, 1_001])
  await slow.close()
  expect(existsSync(join(folder, slowPart!, 'live'))).toBe(false)
})

test('two proxies that begin at the same time have different parts', async () => {
  writer = create({ now: () => now })
  const other = create({ now: () => now })
  expect(parts()).toHaveLength(2)
  await other.close()
})

test('each part says how much the engine caches, as soon as that is known', async () => {
  let tokens: number | undefined
  writer = create({ capacityTokens: () => tokens })
  const [part] = parts()
  for (const [number, known] of [undefined, 5_000, 6_000].entries()) {
    tokens = known
    write(number, ['a'])
    await writer.flush()
    expect(existsSync(join(folder, part!, 'meta.json'))).toBe(known !== undefined)
  }
  expect(JSON.parse(readFileSync(join(folder, part!, 'meta.json'), 'utf8'))).toEqual({ capacity_tokens: 5_000 })
})

test('what a disk does not take in time is lost, and counted', async () => {
  open()
  const long = 'x'.repeat(5 * 1024 * 1024)
  for (const number of [1, 2, 3]) writer.write(`{"query_id":${number},"blocks":[]}`, [{ id: `${number}`, text: long }])
  await writer.flush()
  expect(counts).toEqual({ written: 2, lost: 1 })
})

test('a folder in which none can be made is refused', () => {
  open()
  const at = (place: string): TraceWriter => create({ folder: place })
  writeFileSync(join(folder, 'file'), '')
  expect(() => at(join(folder, 'file', 'traces'))).toThrow('ENOTDIR')
  // Node's own recursive mkdir hangs here
  if (existsSync('/proc/self')) expect(() => at('/proc/traces')).toThrow('ENOENT')
  symlinkSync(join(folder, 'nowhere', 'either'), join(folder, 'link'))
  expect(() => at(join(folder, 'link'))).toThrow('EEXIST')
})

test('a part that cannot be begun is told once, and what it would have held is lost', async () => {
  open()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  for (const number of [2, 3]) {
    write(number, ['a'])
    await writer.flush()
  }
  expect([faults.length, counts]).toEqual([1, { written: 0, lost: 2 }])
  rmSync(folder)
  write(4, ['a'])
  await writer.flush()
  expect(readAll()).toEqual([4])
})
