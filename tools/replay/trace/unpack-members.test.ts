import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unpackMembers } from './read-json-lines.ts'

const lines = fc.array(fc.string({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 6 })

test('whole members are read, and the last one, cut anywhere, is left out', () => {
  fc.assert(
    fc.property(lines, fc.nat(), (texts, cut) => {
      const members = texts.map((text) => gzipSync(text))
      const whole = Buffer.concat(members)
      expect(unpackMembers(whole)).toEqual({ bytes: Buffer.from(texts.join('')), lost: 0 })
      const last = members.at(-1)!.length
      const left = 1 + (cut % (last - 1))
      const { bytes, lost } = unpackMembers(whole.subarray(0, whole.length - last + left))
      expect([bytes, lost]).toEqual([Buffer.from(texts.slice(0, -1).join('')), left])
    }),
  )
})

test('half a member in the middle, or one with a wrong byte, costs no other', () => {
  fc.assert(
    fc.property(lines, lines, fc.nat(), fc.boolean(), (before, after, place, isCut) => {
      const damaged = gzipSync('x'.repeat(50) + before.join(''))
      const at = 10 + (place % (damaged.length - 10))
      const middle = isCut ? damaged.subarray(0, at) : damaged
      if (!isCut) damaged[at]! ^= 0x55
      const file = [...before.map((text) => gzipSync(text)), middle, ...after.map((text) => gzipSync(text))]
      const { bytes, lost } = unpackMembers(Buffer.concat(file))
      // flipped bits may be meaningless ones after the end of the compressed data
      if (lost === 0) expect(bytes.toString()).toContain('xxx')
      else expect([bytes.toString(), lost]).toEqual([[...before, ...after].join(''), middle.length])
    }),
  )
})

test('what is no gzip file, or none yet, has nothing', () => {
  expect(unpackMembers(Buffer.from('{}'))).toEqual({ bytes: Buffer.alloc(0), lost: 2 })
  expect(unpackMembers(Buffer.alloc(0))).toEqual({ bytes: Buffer.alloc(0), lost: 0 })
})

test('a file that gzip has packed, with its name in the header, is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-gzip-'))
  writeFileSync(join(folder, 'named.jsonl'), 'a\n')
  execFileSync('gzip', ['-N', join(folder, 'named.jsonl')])
  expect(unpackMembers(readFileSync(join(folder, 'named.jsonl.gz'))).bytes.toString()).toBe('a\n')
  rmSync(folder, { recursive: true })
})
