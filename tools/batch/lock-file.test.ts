import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { lockFile } from './lock-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-lock-'))
const path = join(folder, 'out.jsonl')
const lock = `${path}.lock`
afterAll(() => rmSync(folder, { recursive: true }))

test('a lock holds as long as its process runs, and is gone once it is released', () => {
  writeFileSync(lock, String(process.ppid))
  expect(() => lockFile(path)).toThrow(/another run \(process \d+\) writes to .*out\.jsonl/)
  // more than any process has
  writeFileSync(lock, '99999999')
  const release = lockFile(path)
  expect(readFileSync(lock, 'utf8')).toBe(String(process.pid))
  release()
  expect(existsSync(lock)).toBe(false)
})

test('a folder that is missing is said', () => {
  expect(() => lockFile(join(folder, 'none', 'out'))).toThrow(/cannot write .*no such file or directory/)
})
