import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import type { EngineClient, EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RefusedError } from '../common/errors.ts'
import { ClientLeft } from './bounds/client-left.ts'
import { forward } from './forward.ts'

const controller = { pause: () => {}, resume: () => {}, abort: () => {} } as unknown as Dispatcher.DispatchController
const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
const refused = 'data: {"error":{"message":"too long","type":"invalid_request_error","code":400}}\n\ndata: [DONE]\n\n'

/** What a client was sent, or with which status the request was refused. */
interface Seen {
  passed: string
  head: number | undefined
  end: string | undefined
  refusal: number | undefined
}

/** Sends an answer in chunks; returns what was passed on, with the status of the head, and the refusal. */
async function pass(
  status: number,
  headers: Record<string, string>,
  chunks: readonly string[],
  { readsEvents = true, breaksOff = false } = {},
): Promise<Seen> {
  const seen: Seen = { passed: '', head: undefined, end: undefined, refusal: undefined }
  const note = (what: Partial<Seen>): void => void Object.assign(seen, what)
  let handler!: Dispatcher.DispatchHandler
  const send = (_: EngineRequest, given: Dispatcher.DispatchHandler): void => {
    handler = given
  }
  const response = Object.assign(new EventEmitter(), {
    writeHead: (head: number) => note({ head }),
    write: (bytes: Buffer) => note({ passed: seen.passed + bytes.toString('latin1') }),
    addTrailers: () => {},
    end: () => note({ end: 'whole' }),
    destroy: () => note({ end: 'broken' }),
  }) as unknown as ServerResponse
  const engine = { url: 'http://engine:1', send } as unknown as EngineClient
  const over = forward(engine, {} as EngineRequest, {
    response,
    clientLeft: new ClientLeft(),
    observer: { onHead: () => {}, settleHead: () => ({}), onChunk: () => {} },
    refusals: readsEvents ? 'by_event' : 'by_status',
  })
  handler.onRequestStart!(controller, {})
  handler.onResponseStart!(controller, status, headers)
  for (const chunk of chunks) handler.onResponseData!(controller, Buffer.from(chunk, 'latin1'))
  if (breaksOff) handler.onResponseError!(controller, new Error('broken off'))
  else handler.onResponseEnd!(controller, {})
  await over.catch((error: unknown) => note({ refusal: (error as RefusedError).status }))
  // what is broken off ends a moment later
  await new Promise(setImmediate)
  return seen
}

const nothing = { passed: '', head: undefined, end: undefined }
const cut = (text: string, at: readonly number[]): string[] => {
  const edges = [0, ...at.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length]
  return edges.slice(1).map((end, i) => text.slice(edges[i]!, end))
}

test('of a refusal nothing is passed on, even if it breaks off', async () => {
  for (const status of [400, 413, 422]) {
    for (const breaksOff of [false, true]) {
      expect(await pass(status, {}, ['{}', '{}'], { breaksOff })).toEqual({ ...nothing, refusal: status })
    }
  }
})

test('a stream whose first event is a refusal is one, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 5 }), fc.boolean(), async (at, hasReturns) => {
      const text = hasReturns ? refused.replaceAll('\n', '\r\n') : refused
      expect(await pass(200, stream, cut(text, at))).toEqual({ ...nothing, refusal: 400 })
    }),
  )
})

test('every other answer is passed on to the byte, in all its states', async () => {
  const event = 'data: {"text":"a","meta_info":{}}\n\n'
  const bodies = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1')),
    fc.constantFrom(
      event + refused,
      refused.replace('400', '500'),
      refused.replace('"error"', '"other"'),
      `: comment\n\n${event}`,
      'x'.repeat(9_000),
      'data: {"error":{"message":"too long","code":400}}',
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      bodies,
      fc.array(fc.nat(), { maxLength: 5 }),
      fc.constantFrom(200, 201, 307, 401, 404, 429, 500),
      fc.constantFrom<Record<string, string>>(stream, {}, { ...stream, 'content-encoding': 'gzip' }),
      fc.boolean(),
      fc.boolean(),
      async (text, at, status, headers, readsEvents, breaksOff) => {
        expect(await pass(status, headers, cut(text, at), { readsEvents, breaksOff })).toEqual({
          passed: text,
          head: status,
          end: breaksOff ? 'broken' : 'whole',
          refusal: undefined,
        })
      },
    ),
  )
})
