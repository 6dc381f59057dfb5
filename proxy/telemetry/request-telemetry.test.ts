import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import type { SentPrompt } from '#index/cache-event.ts'
import type { BlockId, ScopeId } from '#index/context-block.ts'
import { readCounts } from '../admin/dashboard/read-counts.ts'
import { MemoryHotBlocks } from './hot-blocks/hot-blocks.ts'
import { createMetrics } from './metrics.ts'
import { type DecidedRequest, RequestTelemetry } from './request-telemetry.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'

let now: number
let lines: Record<string, unknown>[]
let telemetry: Telemetry

beforeEach(() => {
  now = 1_000
  lines = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const metrics = createMetrics({
    version: '0',
    replicas: { all: [] },
    hot: { load: 0 },
    knownChunks: () => 0,
    templates: { states: new Map() },
    redis: undefined,
  })
  telemetry = createTelemetry({
    metrics,
    log: pino({ base: null }, sink),
    tracing: undefined,
    hot: new MemoryHotBlocks(),
    now: () => now,
  })
})

const begin = (route = 'chat_completions'): RequestTelemetry => new RequestTelemetry(telemetry, route, {})
const answered = { headersSent: true, statusCode: 200 }
const unanswered = { headersSent: false, statusCode: 200 }

/** A prompt of 100 characters: 20 before two blocks of 40. */
function promptOf(...blocks: [string, string]): SentPrompt {
  const scope = 'system' as ScopeId
  return {
    contexts: [{ scope, blocks: blocks as unknown as BlockId[], sizes: [40, 40], ends: [60, 100] }],
    prefixes: [scope, `s${blocks[0]}` as ScopeId, `s${blocks.join()}` as ScopeId],
    ends: [20, 60, 100],
    length: 100,
  }
}

function decisionOf(sent: SentPrompt | undefined, rest: Partial<DecidedRequest> = {}): DecidedRequest {
  const figures = {
    blocks: 2,
    moved: 1,
    deduplicated: 0,
    skipped: undefined,
    fault: undefined,
    predictedCachedTokens: 5,
    mostPredictedCachedTokens: 9,
  }
  return { ...figures, timing: { parse: 2, index: 3 }, sent: sent ? [sent] : [], ...rest }
}

async function valuesOf(name: string): Promise<Record<string, number>> {
  const metric = await telemetry.metrics.registry.getSingleMetric(`reprise_${name}`)!.get()
  return Object.fromEntries(metric.values.map(({ labels, value }) => [Object.values(labels).join(), value]))
}

/** Returns the values that are not 0. */
async function countedOf(name: string): Promise<Record<string, number>> {
  return Object.fromEntries(Object.entries(await valuesOf(name)).filter(([, value]) => value > 0))
}

function run(sent: SentPrompt, rest: Partial<DecidedRequest> = {}): void {
  const request = begin()
  request.calledBy({ tenant: 'acme', key: undefined })
  now += 10
  request.decided({ id: 'r-1', model: 'm', knownChunks: 3 }, decisionOf(sent, rest))
  now += 20
  request.admitted('gpu-0', 'vllm')
  now += 30
  request.firstByte()
  request.used({ promptTokens: 25, cachedTokens: 8 })
  now += 40
  request.ended('finished', answered)
}

describe('a request that was answered', () => {
  test('is one line of the log, with times and counts, without its tenant’s name', () => {
    run(promptOf('a', 'b'))
    expect(lines).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        msg: 'request',
        request_id: 'r-1',
        route: 'chat_completions',
        tenant: expect.stringMatching(/^[\w-]{12}$/),
        replica: 'gpu-0',
        status: 200,
        outcome: 'finished',
        known_chunks: 3,
        blocks: 2,
        moved: 1,
        deduplicated: 0,
        predicted_cached_tokens: 5,
        cached_tokens: 8,
        prompt_tokens: 25,
        queue_ms: 20,
        overhead_ms: 5,
        ttft_ms: 60,
        duration_ms: 100,
      },
    ])
  })

  test('counts its tokens and its blocks', async () => {
    run(promptOf('a', 'b'))
    run(promptOf('c', 'a'), { deduplicated: 1 })
    expect(await valuesOf('prompt_tokens_total')).toEqual({ '': 50 })
    expect(await valuesOf('cached_tokens_total')).toEqual({ engine: 16 })
    expect(await valuesOf('predicted_cached_tokens_total')).toEqual({ '': 10 })
    expect(await valuesOf('blocks_total')).toEqual({ kept: 1, moved: 2, deduplicated: 1 })
    expect(await valuesOf('requests_total')).toEqual({ 'chat_completions,finished': 2 })
    expect(telemetry.hot.top(1)).toEqual([{ block: 'a', count: 2, size: 40 }])
    expect(telemetry.divergence.get('gpu-0')).toEqual({ total: 3, stale_index: 0, routing: 4, tokenisation: 3 })
    expect(await valuesOf('divergence_tokens_total')).toEqual({ stale_index: 0, routing: 8, tokenisation: 6 })
  })

  test('tells what came of it in the other mode, at the replica that answered', () => {
    const request = begin()
    request.decided({ id: 'r-1' }, decisionOf(promptOf('a', 'b')))
    const used: unknown[] = []
    const figures = { baselineCachedTokens: 4, shadowCachedTokens: undefined, seenTokens: 20 }
    const compared = {
      baselineOf: (predicted: number) => predicted - 1,
      counted: (...args: unknown[]) => used.push(args),
    }
    request.compare({ ...compared, figures: undefined })
    request.compare({ ...compared, figures })
    expect(request.baselineCachedTokens).toBe(4)
    request.admitted('gpu-0', 'vllm')
    now += 30
    request.firstByte()
    const usage = { promptTokens: 100, cachedTokens: 20 }
    request.used(usage)
    request.ended('finished', answered)
    expect(used).toEqual([[usage, 0.03]])
    expect(lines[0]).toMatchObject({ baseline_cached_tokens: 4, seen_tokens: 20 })
    expect(lines[0]).not.toHaveProperty('shadow_cached_tokens')
  })

  test('tells what its engine reused at another position, of that what was computed again, and what was cold', async () => {
    const request = begin()
    request.decided({ id: 'r-1' }, decisionOf(promptOf('a', 'b')))
    request.admitted('gpu-0', 'vllm')
    request.used({ promptTokens: 100, cachedTokens: 20, reusedTokens: 50, recomputedTokens: 10 })
    request.ended('finished', answered)
    const reused = { cached_tokens: 20, reused_tokens: 50, recomputed_tokens: 10, cold_tokens: 20 }
    expect(lines[0]).toMatchObject(reused)
    expect(await valuesOf('reused_tokens_total')).toEqual({ '': 50 })
    expect(await valuesOf('recomputed_tokens_total')).toEqual({ '': 10 })
    expect(await valuesOf('cached_tokens_total')).toEqual({ engine: 20 })
  })

  test('tells what its engine read of the pages of its context, and nothing where that is not told', async () => {
    const request = begin()
    const pages = { listed: 30, all: 90, choices: 4, backtracks: 1 }
    request.used({ promptTokens: 100, cachedTokens: 20, pages })
    request.ended('finished', answered)
    const figures = { listed_pages: 30, all_pages: 90, page_choices: 4, page_backtracks: 1 }
    expect(lines[0]).toMatchObject(figures)
    expect(await readCounts(telemetry.metrics.registry)).toMatchObject(figures)
    begin().ended('finished', answered)
    for (const name of Object.keys(figures)) expect(lines[1]).not.toHaveProperty(name)
  })

  test('counts as cold what nobody says was computed again', () => {
    const request = begin()
    request.used({ promptTokens: 100, cachedTokens: 20, reusedTokens: 50 })
    request.ended('finished', answered)
    expect(lines[0]).toMatchObject({ reused_tokens: 50, cold_tokens: 30 })
    expect(lines[0]).not.toHaveProperty('recomputed_tokens')
  })

  test('is predicted of what its engine counted only when it did, so that the shares can be compared', async () => {
    run(promptOf('a', 'b'))
    const request = begin()
    request.decided({ id: 'r-2' }, decisionOf(promptOf('a', 'b')))
    request.admitted('gpu-0', 'vllm')
    request.firstByte()
    request.ended('finished', answered)
    expect(await valuesOf('predicted_cached_tokens_total')).toEqual({ '': 10 })
    expect(await valuesOf('predicted_cached_tokens_of_reported_total')).toEqual({ '': 5 })
    expect(await readCounts(telemetry.metrics.registry)).toMatchObject({
      prompt_tokens: 25,
      predicted_cached_tokens: 5,
    })
  })

  test.each([400, 429, 500])('with an error of the engine (%i) is told apart from the others', async (statusCode) => {
    begin().ended('finished', { headersSent: true, statusCode })
    begin().ended('client_left', { headersSent: true, statusCode })
    expect(await valuesOf('requests_total')).toEqual({
      'chat_completions,engine_error': 1,
      'chat_completions,client_left': 1,
    })
    expect(lines[0]).toMatchObject({ outcome: 'engine_error', status: statusCode })
  })
})

describe('a request that was not', () => {
  test('left alone counts why, and a fault of ours as such', async () => {
    run(promptOf('a', 'b'), { skipped: 'nothing_to_gain' })
    begin().decided({ id: 'r' }, decisionOf(undefined, { skipped: 'internal_error', fault: new Error() }))
    expect(await countedOf('skipped_total')).toEqual({ nothing_to_gain: 1, internal_error: 1 })
    expect(await countedOf('fail_open_total')).toEqual({ internal_error: 1 })
  })

  test('complete, because documents of a past turn are missing, counts as a fault, whatever was done with the others', async () => {
    run(promptOf('a', 'b'), { skipped: 'unknown_turn' })
    expect(await countedOf('fail_open_total')).toEqual({ unknown_turn: 1 })
  })

  test('whose client left counts by how far it had come', async () => {
    begin().ended('client_left', unanswered)
    for (const answer of [unanswered, answered, answered]) {
      const request = begin()
      request.admitted('gpu-0', 'vllm')
      request.ended('client_left', answer)
    }
    expect(await valuesOf('stream_aborts_total')).toEqual({ queue: 1, before_head: 1, mid_stream: 2 })
  })

  test('refused before anything was decided says so in one line', () => {
    begin('messages').ended('unauthorized', { headersSent: true, statusCode: 401 })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ route: 'messages', outcome: 'unauthorized', status: 401, blocks: 0 })
    expect(lines[0]).not.toHaveProperty('queue_ms')
  })
})
