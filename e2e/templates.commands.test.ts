import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, longBlock, metricOf } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { Reprises, writeSettings } from './run-reprise.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const template = { name: 'bot', before: 'Notes.\n', block: '@@@ {any}\n{block}\n', after: '@@@\nWhat' }
const reprises = new Reprises()
let engine: RecordingEngineDouble
let proxy: RunningProxy | undefined
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-templates-'))
  engine = await startRecordingEngineDouble()
})

afterEach(async () => {
  await proxy?.close()
  proxy = undefined
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

/** A prompt whose blocks only a template finds. */
const text = (names: string, question = 'is it?'): string =>
  `Read this.\nNotes.\n${[...names].map((name) => `@@@ ${name}.txt\n${longBlock(name)}\n`).join('')}@@@\nWhat ${question}`

async function chat(url: string, ...turns: string[]): Promise<Response> {
  const messages = turns.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }))
  return await postJson(`${url}/v1/chat/completions`, { messages })
}

const sentFirst = (): string => contentsIn(engine.requests.at(-1))[0]!
const namesIn = (content: string): string =>
  [...content.matchAll(/@@@ (\w)\.txt\n(\w): /g)].map(([, name, block]) => (name === block ? name : '?')).join('')

test('a template of the configuration moves the list of a prompt that nothing marks', async () => {
  proxy = await startTestProxy({ url: engine.url }, { mode: 'on', templates: [template] })
  await chat(proxy.url, text('ABC'))
  const answer = await chat(proxy.url, text('CBA'))
  expect(answer.headers.get('x-reprise-blocks')).toBe('3')
  expect(answer.headers.get('x-reprise-moved')).toBe('2')
  expect(namesIn(sentFirst())).toBe('ABC')
  expect(sentFirst().startsWith('Read this.\nNotes.\n@@@ A.txt\n')).toBe(true)
  expect(sentFirst()).toMatch(/C44\n@@@\nWhat is it\?$/)
  const explained = await (
    await postJson(`${proxy.adminUrl}/v1/explain`, { messages: [{ role: 'user', content: text('BCA') }] })
  ).json()
  expect(explained).toMatchObject({ lists: [{ first_block: 0, blocks: 3, found_by: 'template', template: 'bot' }] })
  expect(await metricOf(proxy.adminUrl, 'reprise_template_lists_total{outcome="found"}')).toBe(2)
})

test('a list whose borders are in doubt is sent as received, counted, and explained', async () => {
  proxy = await startTestProxy({ url: engine.url }, { mode: 'on', templates: [template] })
  const doubtful = text('ABC', 'is it?\n@@@\nWhat else?')
  const answer = await chat(proxy.url, doubtful)
  expect(answer.headers.get('x-reprise-blocks')).toBe('0')
  expect(sentFirst()).toBe(doubtful)
  expect(await metricOf(proxy.adminUrl, 'reprise_template_lists_total{outcome="borders"}')).toBe(1)
  const body = { messages: [{ role: 'user', content: doubtful }] }
  expect(await (await postJson(`${proxy.adminUrl}/v1/explain`, body)).json()).toMatchObject({
    left_alone: [{ at: 'messages.0.content', template: 'bot', reason: 'template_borders', remedy: expect.any(String) }],
  })
  const { shapes } = (await (await fetch(`${proxy.adminUrl}/v1/shapes`)).json()) as { shapes: object[] }
  expect(shapes).toMatchObject([{ reason: 'template_borders' }])
})

test('SIGHUP brings a template and takes it away; turns of running conversations are sent as they were', async () => {
  const engines = [{ url: engine.url, kind: 'openai' }]
  const settings = (templates: object[]): string => writeSettings(folder, { engines, mode: 'on', templates })
  const running = await reprises.start([
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--admin-listen',
    '127.0.0.1:0',
    '--config',
    settings([]),
  ])
  let reloads = 0
  const reload = async (templates: object[]): Promise<void> => {
    settings(templates)
    running.child.kill('SIGHUP')
    reloads += 1
    await vi.waitFor(() => expect(running.stderr().match(/"settings":\["templates"\]/g)).toHaveLength(reloads), 20_000)
  }
  const url = running.listening.url!
  await chat(url, text('ABC'))
  await chat(url, text('CBA'))
  expect(sentFirst()).toBe(text('CBA'))
  await reload([template])
  await chat(url, text('ABC', 'was it?'))
  await chat(url, text('CAB'))
  const moved = sentFirst()
  expect(namesIn(moved)).toBe('ABC')
  // the conversation that began before the template
  await chat(url, text('CBA'), 'That.', 'Why?')
  expect(sentFirst()).toBe(text('CBA'))
  await reload([])
  await chat(url, text('CAB'), 'That.', 'Why?')
  expect(sentFirst()).toBe(moved)
  expect((await chat(url, text('BCA'))).headers.get('x-reprise-blocks')).toBe('0')
})

test('what a template moved is what was sent: nothing in mode shadow', async () => {
  const expectMoved = async (mode: 'on' | 'shadow', count: number): Promise<void> => {
    proxy = await startTestProxy({ url: engine.url }, { mode })
    for (const names of ['ABC', 'CBA', 'BAC'])
      await (await postJson(`${proxy.url}/v1/chat/completions`, ragRequest('why?', [...names].map(longBlock)))).text()
    await vi.waitFor(async () => {
      const answer = await fetch(`${proxy!.adminUrl}/v1/templates`)
      expect(await answer.json()).toMatchObject({ templates: [{ requests: 3, moved: count }] })
    })
    await proxy.close()
  }
  await expectMoved('shadow', 0)
  await expectMoved('on', 4)
})
