import fc from 'fast-check'
import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import { RefusalFilter } from './refusal-filter.ts'

const controller = {} as Dispatcher.DispatchController
const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
const refused = 'data: {"error":{"message":"too long","type":"invalid_request_error","code":400}}\n\ndata: [DONE]\n\n'

/** Sends an answer in chunks; returns what was passed on, with the status of the head, and the refusal. */
function pass(
  status: number,
  headers: Record<string, string>,
  chunks: readonly string[],
  { readsEvents = true, breaksOff = false } = {},
): { passed: string; head: number | undefined; end: string | undefined; refusal: number | undefined } {
  const seen = { passed: '', head: undefined, end: undefined, refusal: undefined } as ReturnType<typeof pass>
  const next: Dispatcher.DispatchHandler = {
    onResponseStart: (_, code) => void Object.assign(seen, { head: code }),
    onResponseData: (_, chunk) => void Object.assign(seen, { passed: seen.passed + chunk.toString('latin1') }),
    onResponseEnd: () => void Object.assign(seen, { end: 'whole' }),
    onResponseError: () => void Object.assign(seen, { end: 'broken' }),
  }
  const filter = new RefusalFilter(next, (code) => void Object.assign(seen, { refusal: code }), readsEvents)
  filter.onResponseStart(controller, status, headers)
  for (const chunk of chunks) filter.onResponseData(controller, Buffer.from(chunk, 'latin1'))
  if (breaksOff) filter.onResponseError(controller, new Error('broken off'))
  else filter.onResponseEnd(controller, {})
  return seen
}

const nothing = { passed: '', head: undefined, end: undefined }
const cut = (text: string, at: readonly number[]): string[] => {
  const edges = [0, ...at.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length]
  return edges.slice(1).map((end, i) => text.slice(edges[i]!, end))
}

test('of a refusal nothing is passed on, even if it breaks off', () => {
  for (const status of [400, 413, 422]) {
    for (const breaksOff of [false, true]) {
      expect(pass(status, {}, ['{}', '{}'], { breaksOff })).toEqual({ ...nothing, refusal: status })
    }
  }
})

test('a stream whose first event is a refusal is one, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 5 }), fc.boolean(), (at, hasReturns) => {
      const text = hasReturns ? refused.replaceAll('\n', '\r\n') : refused
      expect(pass(200, stream, cut(text, at))).toEqual({ ...nothing, refusal: 400 })
    }),
  )
})

test('every other answer is passed on to the byte, in all its states', () => {
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
  fc.assert(
    fc.property(
      bodies,
      fc.array(fc.nat(), { maxLength: 5 }),
      fc.constantFrom(200, 201, 307, 401, 404, 429, 500),
      fc.constantFrom<Record<string, string>>(stream, {}, { ...stream, 'content-encoding': 'gzip' }),
      fc.boolean(),
      fc.boolean(),
      (text, at, status, headers, readsEvents, breaksOff) => {
        expect(pass(status, headers, cut(text, at), { readsEvents, breaksOff })).toEqual({
          passed: text,
          head: status,
          end: breaksOff ? 'broken' : 'whole',
          refusal: undefined,
        })
      },
    ),
  )
})
