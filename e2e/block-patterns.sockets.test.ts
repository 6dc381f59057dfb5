import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Config } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/main.ts'
import { contentsIn, longBlock, metricOf } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url })
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

async function restart(patterns: Config['blocks']['patterns'], patternMilliseconds = 1000): Promise<void> {
  await proxy.close()
  proxy = await startTestProxy(
    { url: engine.url },
    { blocks: { patterns, patternMilliseconds, separator: '', volatileFields: 'keep' } },
  )
}

const own = { name: 'own', pattern: '^@@ (?<label>\\S+)\\n(?<block>[^@]+)', flags: 'm' }
/** A prompt whose blocks have a form that only this user's pattern finds. */
const text = (names: string): string =>
  `Read this.\n${[...names].map((name) => `@@ ${name}.txt\n${longBlock(name)}\n`).join('')}@@\nWhat is it?`

const chat = (content: string): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, { messages: [{ role: 'user', content }], seed: 1.0 })

const lastBody = (): string => engine.requests.at(-1)!.body.toString()

describe('blocks.patterns', () => {
  test('find blocks that no known form has, and they are ordered', async () => {
    await chat(text('ABC'))
    const unknown = await chat(text('CBA'))
    expect(unknown.headers.get('x-reprise-blocks')).toBe('0')
    expect(contentsIn(engine.requests.at(-1))).toEqual([text('CBA')])
    await restart([own])
    await chat(text('ABC'))
    const known = await chat(text('CBA'))
    expect(known.headers.get('x-reprise-blocks')).toBe('3')
    expect(known.headers.get('x-reprise-moved')).toBe('2')
    const sent = contentsIn(engine.requests.at(-1))[0]!
    // labels that are not numbered move with their blocks
    expect([...sent.matchAll(/@@ (\w)\.txt\n(\w): /g)].map(([, label, block]) => label! + block)).toEqual([
      'AA',
      'BB',
      'CC',
    ])
    expect(sent).toContain('priority order: [C.txt] > [B.txt] > [A.txt]')
    expect(sent.startsWith('Read this.\n@@ A.txt\n')).toBe(true)
    expect(sent).toMatch(/@@\nWhat is it\?$/)
  })

  test('that run wild cost a request their time limit and nothing else, and are counted', async () => {
    await restart([{ name: 'wild', pattern: '(?<block>(a+)+)$', flags: 'm' }], 40)
    // one such prompt would keep a thread busy practically forever
    const body = `{"messages":[{"role":"user","content":"${'a'.repeat(60)}!"}], "seed":1.0}`
    for (let i = 1; i <= 2; i++) {
      const response = await postJson(`${proxy.url}/v1/chat/completions`, body)
      expect(response.status).toBe(200)
      expect(lastBody()).toBe(body)
      expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="pattern_timeout"}')).toBe(i)
    }
    await postJson(`${proxy.url}/v1/chat/completions`, body)
    // a pattern that keeps timing out is switched off in the end
    expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="pattern_off"}')).toBe(1)
    expect((await postJson(`${proxy.url}/v1/chat/completions`, body)).status).toBe(200)
    expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="pattern_timeout"}')).toBe(3)
  })

  test('that run wild on a later turn change nothing of how the turns before it are sent', async () => {
    await restart([{ name: 'wild', pattern: '^(a+a+)+b$', flags: 'm' }, own])
    const ask = async (...turns: string[]): Promise<unknown> => {
      const messages = turns.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }))
      await postJson(`${proxy.url}/v1/chat/completions`, { messages })
      return contentsIn(engine.requests.at(-1))[0]
    }
    await chat(text('ABC'))
    const first = await ask(text('CBA'))
    expect(first).not.toBe(text('CBA'))
    const trap = 'a'.repeat(60)
    expect(await ask(text('CBA'), 'So.', trap)).toBe(first)
    expect(await ask(text('CBA'), 'So.', trap, 'Well.', 'And now?')).toBe(first)
    expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="pattern_timeout"}')).toBe(2)
  })

  test('that run wild hold up no other request, and leave other forms of blocks to be found', async () => {
    await restart([{ name: 'wild', pattern: '(?<block>(a+)+)$', flags: 'm' }], 3_000)
    const document = (names: string, rest: string): string =>
      `${[...names].map((name, i) => `<document index="${i + 1}">\n${longBlock(name)}\n</document>`).join('\n')}\n\n${rest}`
    await chat(document('ABC', 'Which is short?'))
    let isOver = false
    const wild = chat(document('CBA', `Which?\n${'a'.repeat(60)}!`)).finally(() => {
      isOver = true
    })
    const passed = await fetch(`${proxy.url}/v1/models`)
    expect(passed.status).toBe(200)
    expect(isOver).toBe(false)
    expect((await wild).headers.get('x-reprise-moved')).toBe('2')
  })
})
