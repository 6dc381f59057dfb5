import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CompareFixture } from './compare.fixture.ts'
import { renderComparison } from './render-comparison.ts'

let fixture: CompareFixture

beforeEach(() => {
  fixture = new CompareFixture()
})

afterEach(() => fixture.close())

describe('answers are found again', () => {
  test('by the same command, and by one that sends more of the same trace', async () => {
    const engine = await fixture.startEngine()
    const trace = fixture.writeTrace(4)
    const whole = await fixture.compare(trace, engine, { limit: 2 })
    const sent = engine.chats.length
    expect(await fixture.compare(trace, engine, { limit: 2 })).toEqual(whole)
    expect(engine.chats).toHaveLength(sent)
    expect((await fixture.compare(trace, engine)).requests).toBe(4)
  })

  test('but not for other requests', async () => {
    const engine = await fixture.startEngine()
    await fixture.compare(fixture.writeTrace(2), engine)
    const others = [fixture.writeTrace(2, 'of-others/trace', ' Or so.'), fixture.writeTrace(2, 'trace', ' Edited.')]
    for (const other of others) {
      await expect(fixture.compare(other, engine)).rejects.toThrow(/other requests.*--results/)
    }
  })

  test('nor for another kind of engine', async () => {
    const engine = await fixture.startEngine()
    const trace = fixture.writeTrace(2)
    await fixture.compare(trace, engine)
    await expect(fixture.compare(trace, engine, { engine: { url: engine.url, kind: 'vllm' } })).rejects.toThrow(
      '--results',
    )
  })

  test.each(['', '\n', '{"setting":{"tr'])('a file with no more than %j is a new one', async (text) => {
    const engine = await fixture.startEngine()
    writeFileSync(join(fixture.folder, 'results.jsonl'), text)
    const trace = fixture.writeTrace(1)
    const whole = await fixture.compare(trace, engine)
    const sent = engine.chats.length
    expect(await fixture.compare(trace, engine)).toEqual(whole)
    expect(engine.chats).toHaveLength(sent)
  })

  test.each([
    ['', /^cannot write .*: it is a folder/],
    ['trace/queries.jsonl', /^cannot write .*: the trace is read from it/],
    ['link', /^cannot write .*--results/],
  ])('a file that cannot be read or written is named, before anything is sent: %j', async (name, said) => {
    const engine = await fixture.startEngine()
    symlinkSync('/dev/full', join(fixture.folder, 'link'))
    const results = join(fixture.folder, name)
    await expect(fixture.compare(fixture.writeTrace(1), engine, { results })).rejects.toThrow(said)
    expect(engine.chats).toEqual([])
  })
})

test('a device may be both files', async () => {
  const engine = await fixture.startEngine()
  const files = { results: '/dev/null', report: '/dev/null' }
  const { requests } = await fixture.compare(fixture.writeTrace(1), engine, files)
  expect(requests).toBe(1)
})

describe('an engine', () => {
  test('that reports no usage leaves tokens unknown', async () => {
    const engine = await fixture.startEngine({ hasUsage: false })
    const comparison = await fixture.compare(fixture.writeTrace(2), engine)
    for (const pass of comparison.passes) expect(pass).toMatchObject({ prompt_tokens: null, cached_tokens: null })
    expect(renderComparison(comparison)).toMatch(/does not report usage[\s\S]*unknown/)
  })

  test('that refuses log-probabilities is asked without, once it has said so', async () => {
    const engine = await fixture.startEngine({ refuse: ({ logprobs }) => (logprobs ? { status: 400 } : undefined) })
    const report = join(fixture.folder, 'report.md')
    const trace = fixture.writeTrace(3)
    const comparison = await fixture.compare(trace, engine, { report })
    expect(comparison).toMatchObject({ requests: 3, log_probabilities_refused: true })
    expect(engine.chats).toHaveLength(3 * 3 + 1)
    for (const text of [renderComparison(comparison), readFileSync(report, 'utf8')]) {
      expect(text).toContain('refuses log-probabilities')
    }
    const more = await fixture.compare(trace, engine, { passes: ['again', 'rewritten', 'order'] })
    expect(more.log_probabilities_refused).toBe(true)
    expect(engine.chats).toHaveLength(4 * 3 + 1)
  })

  test.each([
    [400, /request 0 .*received.*status 400.*not so.*leave it out/],
    [401, /REPRISE_ENGINE_API_KEY/],
    [403, /REPRISE_ENGINE_API_KEY/],
    [404, /--model/],
    [500, /status 500.*goes on from here/],
  ])('that refuses with %i is quoted, with what to do', async (status, message) => {
    const engine = await fixture.startEngine({ refuse: () => ({ status }) })
    await expect(fixture.compare(fixture.writeTrace(1), engine)).rejects.toThrow(message)
  })

  test('that does not stream is told from one that breaks off', async () => {
    const engine = await fixture.startEngine({ contentType: 'application/json' })
    await expect(fixture.compare(fixture.writeTrace(1), engine)).rejects.toThrow(/application\/json.*stream/)
  })

  test('that is busy for a while is asked again, in every pass, which changes no result', async () => {
    const trace = fixture.writeTrace(6)
    const [calm, busy] = [
      await fixture.startEngine(),
      await fixture.startEngine({
        refuse: (_, count) =>
          count % 3 === 0 ? { status: count % 2 === 0 ? 429 : 503, headers: { 'retry-after': '1' } } : undefined,
      }),
    ]
    const [expected, found] = [
      await fixture.compare(trace, calm),
      await fixture.compare(trace, busy, { results: join(fixture.folder, 'busy.jsonl') }),
    ]
    expect(found.passes.at(-1)!.changed).toBeGreaterThan(0)
    expect(found.verdict).toBe(expected.verdict)
    const answered = busy.chats.filter((_, i) => (i + 1) % 3 !== 0)
    expect(answered.map((chat) => chat.messages)).toEqual(calm.chats.map((chat) => chat.messages))
  })

  test.each([
    [{}, [500, 1_000, 2_000, 4_000, 8_000, 16_000]],
    [{ 'retry-after': '3' }, [3_000, 3_000, 3_000, 4_000, 8_000, 16_000]],
  ])('that stays busy is asked seven times, after as long as it says (%j)', async (headers, expected) => {
    const engine = await fixture.startEngine({ refuse: () => ({ status: 429, headers }) })
    await expect(fixture.compare(fixture.writeTrace(1), engine)).rejects.toThrow(
      /status 429.*7 attempts.*goes on from here/,
    )
    expect(engine.chats).toHaveLength(7)
    expect(fixture.waits).toEqual(expected)
  })

  test('that wants to be left alone for an hour is', async () => {
    const engine = await fixture.startEngine({ refuse: () => ({ status: 429, headers: { 'retry-after': '3600' } }) })
    await expect(fixture.compare(fixture.writeTrace(1), engine)).rejects.toThrow(/3600 s.*goes on from here/)
    expect(engine.chats).toHaveLength(1)
  })
})
