import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Call, RoutedCall } from '../call/call.ts'
import { defaultConfig } from '../config/sources/config-source.ts'
import { Recorder } from './recorder.ts'

let folder: string
let recorder: Recorder
let written: number
let lost: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-recorder-'))
  written = 0
  lost = 0
  recorder = new Recorder({
    folder,
    hasText: false,
    now: Date.now,
    capacityTokens: () => undefined,
    onWritten: (requests) => {
      written += requests
    },
    onLost: (requests) => {
      lost += requests
    },
    onFault: () => undefined,
  })
})

afterEach(() => rmSync(folder, { recursive: true }))

const call = (body: Buffer): Call =>
  ({
    api: 'chat_completions',
    caller: { tenant: 'default' },
    settings: { mode: 'on', options: defaultConfig().options },
    content: { body },
  }) as unknown as Call

/** A request of one text. Places that are no array cannot be cut. */
const routed = (places: unknown = [0]): RoutedCall =>
  ({
    replica: { mirror: { estimateTokens: (characters: number) => characters / 4 } },
    decision: { worlds: { texts: ['What?'], prompts: [places] }, contexts: [], options: {}, promptTokens: 3 },
  }) as unknown as RoutedCall

test('a request beyond what may be held is lost, and the next one is recorded when others have ended', async () => {
  const body = Buffer.alloc(129 * 2 ** 20)
  const first = recorder.follow(routed(), call(body))
  expect(recorder.follow(routed(), call(Buffer.from('{}')))).toBeUndefined()
  expect(lost).toBe(1)
  first!.ended(false)
  await expect
    .poll(() => {
      const next = recorder.follow(routed(), call(Buffer.from('{}')))
      next?.ended(true)
      return next
    })
    .toBeDefined()
  await recorder.close()
  expect(written).toBe(1)
})

test('a request that an engine has not seen is not recorded, nor lost', async () => {
  recorder.follow(routed(), call(Buffer.from('{}')))!.ended(false)
  await recorder.close()
  expect([written, lost]).toEqual([0, 0])
})

test('an error of ours costs the record of its request, and nothing else', async () => {
  recorder.follow(routed(null), call(Buffer.from('{}')))!.ended(true)
  recorder.follow(routed(), call(Buffer.from('{}')))!.ended(true)
  await recorder.close()
  expect([written, lost]).toEqual([1, 1])
})
