import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import type { KeysConfig } from '../../access/api-keys.ts'
import { hashOf } from '../../access/hash-key.ts'
import { readVersion } from '../../common/read-version.ts'
import { KeyStore } from './key-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'keys.yaml')
const log = { info: vi.fn(), error: vi.fn() }

/** Waits for a check to pass: files are polled every few milliseconds, and the machine may be busy. */
function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 10 })
}

const stores: KeyStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
  log.info.mockClear()
  log.error.mockClear()
})

function open(config: Partial<KeysConfig>, onChange?: () => void): KeyStore {
  const complete = { file: undefined, forward_client_authorization: false, ...config }
  const store = new KeyStore(complete, { log, pollMilliseconds: 10, ...(onChange && { onChange }) })
  stores.push(store)
  return store
}

function line(key: string): string {
  return `  - { tenant: ${key}, sha256: ${hashOf(key).toString('hex')} }\n`
}

function write(...keys: string[]): void {
  writeFileSync(file, `keys:\n${keys.map(line).join('')}`)
}

test('keys come from the file', () => {
  write('a', 'b')
  const { keys } = open({ file })
  expect(keys.find('a')?.tenant).toBe('a')
  expect(keys.find('b')?.tenant).toBe('b')
  expect(open({}).keys.isOpen).toBe(true)
})

test('a file that changes is read again, also when it is replaced', { timeout: 30_000 }, async () => {
  write('a')
  const changed = vi.fn()
  const { keys } = open({ file }, changed)
  // on a busy machine, the first look at the file may come late, and a later one find it half written
  await eventually(() => {
    write('a', 'b')
    expect(keys.find('b')).toBeDefined()
  })
  expect(log.info.mock.lastCall).toEqual([{ version: readVersion(), keys: 2 }, 'API keys reloaded'])
  const beside = join(folder, 'new.yaml')
  writeFileSync(beside, `keys:\n${line('c')}`)
  renameSync(beside, file)
  await eventually(() => expect(keys.find('c')).toBeDefined())
  expect(keys.find('a')).toBeUndefined()
  expect(changed).toHaveBeenCalledWith(keys)
})

test('a file that breaks or goes leaves the keys as they were, and says why', { timeout: 30_000 }, async () => {
  write('a')
  const { keys } = open({ file })
  await new Promise((resolve) => setTimeout(resolve, 50))
  writeFileSync(file, 'keys:\n  - { tenant: a, sha256: short }\n  - { sha256: 1 }')
  await eventually(() => expect(log.error).toHaveBeenCalled())
  expect(log.error.mock.calls[0]![0]).toEqual({
    version: readVersion(),
    faults: [
      `${file}:2: keys[0].sha256: has to be 64 hexadecimal digits: \`reprise hash-key\` prints them`,
      `${file}:3: keys[1].sha256: has to be a text`,
    ],
  })
  expect(keys.find('a')).toBeDefined()
  log.error.mockClear()
  rmSync(file)
  await eventually(() => expect(log.error).toHaveBeenCalled())
  expect(keys.find('a')).toBeDefined()
  write('b')
  await eventually(() => expect(keys.find('b')).toBeDefined())
})

test.each([
  ['keys: []', /keys\.yaml:1: keys: must not be empty$/],
  ['', /keys\.yaml: keys: is missing$/],
  [`keys:\n${line('a')}${line('a')}`, /keys\.yaml:3: keys\[1\]\.sha256: the key is listed twice$/],
  [`keys:\n  - { sha256: ${'a'.repeat(64)} }`, /keys\.yaml:2: keys\[0\]: needs a tenant or a name$/],
  [
    `keys:\n  - { tenant: t, sha256: ${'A'.repeat(64)}, expires: 2030-13-01 }`,
    /keys\.yaml:2: keys\[0\]\.expires: '2030-13-01' is no date: write one as in 2030-01-31$/,
  ],
])('a file that lets no one in, or whom nobody knows, is refused at the start: %j', (text, message) => {
  writeFileSync(file, text)
  expect(() => open({ file })).toThrow(message)
})

test('a reload turns keys on, and never off', () => {
  const store = open({})
  const base = { forward_client_authorization: false }
  write('a')
  store.reload({ ...base, file }, [{ tenant: 'a', sha256: hashOf('a').toString('hex') }])
  expect(store.keys.find('a')).toBeDefined()
  store.reload(base, [])
  expect(store.keys.isOpen).toBe(false)
  expect(store.keys.find('a')).toBeDefined()
})
