import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { KnownChunks } from '../chunks/known-chunks.ts'
import type { Settings } from '../config/config.ts'
import { HeavyTurns } from '../http/bounds/event-loop.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'
import { Sender, userMessage } from '../request/sender.fixture.ts'
import { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import { TemplateBook } from '../templates/template-book.ts'
import type { Call } from './call.ts'
import { toCall, toFallBack } from './read-call.ts'

const settings = {
  mode: 'on',
  hygiene: { sort_tools: false },
  learn: false,
  templates: [],
  workLimits: { bytes: 1_000_000, texts: 100, milliseconds: 30 },
  options: {},
  limits: { max_wait_seconds: 1 },
} as unknown as Settings
const pipeline = {
  settings: () => settings,
  chunks: new KnownChunks({ maxChunks: 10, source: 1 }),
  now: () => 0,
  heavyTurns: new HeavyTurns(),
  models: { aliases: new Map(), isNeeded: false, targetOf: () => undefined, targetBehind: () => 'small' },
  templates: new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false }),
  learnt: new LearntTemplates({ onSeen: () => {}, onFault: () => {} }),
}
const incoming = { headers: {} } as IncomingMessage
const caller = { tenant: 't', key: undefined }
const unshared = { grow: () => {}, release: () => {} }

test('a call can let go of its body, and of what was read from it', async () => {
  const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Why?"}]}')
  let released = 0
  const share = {
    grow: () => {},
    release: () => {
      released++
    },
  }
  const call = await toCall(pipeline, 'chat_completions', incoming, { body, share }, caller)
  const { content } = call
  expect(content.body).toBe(body)
  expect(content.received.prompt?.set?.texts).toHaveLength(1)
  content.release()
  expect(content.body).toHaveLength(0)
  expect(content.received.prompt).toBeUndefined()
  expect(released).toBe(1)
})

test('a template is of one model with its adapter, and of the next one after a fall-back', async () => {
  const messages = [userMessage('why?', 'Salt from Karvik is grey.', 'The ferry leaves at noon.')]
  const placeOf = ({ permit, content }: Call): ListPlace => {
    const { contexts } = new Sender().decide(content.body.toString(), { permit: permit! })
    return contexts[0]!.found.template!.place
  }
  const callFor = (named: object): Promise<Call> => {
    const body = Buffer.from(JSON.stringify({ ...named, messages }))
    return toCall(pipeline, 'chat_completions', incoming, { body, share: unshared }, caller)
  }
  expect(placeOf(await callFor({})).model).toBe('')
  expect(placeOf(await callFor({ model: 'big', lora_path: 'law' })).model).toBe('big law')
  expect(placeOf(await callFor({ model: 'big', lora_path: ['law'] })).model).toBe('big ["law"]')
  const long = 'folder/'.repeat(80)
  const adapters = ['law', 'tax'].map(async (name) => placeOf(await callFor({ model: long, lora_path: long + name })))
  const [law, tax] = await Promise.all(adapters)
  expect(law!.model).not.toBe(tax!.model)
  const call = await callFor({ model: 'big' })
  const { model, ...alike } = placeOf(call)
  expect(model).toBe('big')
  expect(placeOf((await toFallBack(pipeline, { ...call, alias: 'any' }))!)).toEqual({ ...alike, model: 'small' })
})
