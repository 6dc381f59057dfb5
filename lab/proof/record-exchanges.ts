import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { TokenQuestion } from '#engine-adapters/prompt-api.ts'
import type { ScoredAnswer } from '#engine-adapters/scoring/scored-prompt.ts'
import { type AskedEngine, askOf } from './asked-engine.ts'

/*
 * `node --import tsx lab/proof/record-exchanges.ts URL KIND VERSION`: records what an engine is asked, and answers, while
 * it scores answers. Run it by hand when an engine's version is raised; the tests of the adapters run over these files.
 */

const model = 'SmolLM2-135M-Instruct'
const text =
  'The ferry leaves at nine.\n\nDogs travel free.\n\nThe crossing takes two hours.\n\nQuestion: How long does it take?'
const answer = 'It takes two hours. 😀\nÇa va?'
const messages = [{ role: 'user', content: text }]

function casesOf(kind: EngineKind): Readonly<Record<string, ScoredAnswer>> {
  const chat = { api: 'chat_completions', members: { model, messages, cache_salt: 'salt', temperature: 1 } } as const
  return {
    chat: { ...chat, answer, promptTokens: 50 },
    'chat, long': { ...chat, answer, promptTokens: 5_000 },
    completion: { api: 'completions', members: { model, prompt: text }, answer, promptTokens: 50 },
    'completion, long': { api: 'completions', members: { model, prompt: text }, answer, promptTokens: undefined },
    response: {
      api: 'responses',
      members: { model, input: text, instructions: 'Be brief.' },
      answer,
      promptTokens: 50,
    },
    message: { api: 'messages', members: { model, messages, system: 'Be brief.' }, answer, promptTokens: 50 },
    ...(kind === 'sglang' ? { generate: { api: 'generate', members: { text }, answer, promptTokens: 50 } } : {}),
  }
}

async function record(engine: AskedEngine, file: string): Promise<void> {
  const cases = []
  for (const [name, scored] of Object.entries(casesOf(engine.kind))) {
    const exchanges: { question: TokenQuestion; answer: unknown }[] = []
    const tokens = await adapterFor(engine.kind).scoreAnswer!(scored, async (question) => {
      const said = await askOf(engine)(question)
      exchanges.push({ question, answer: said })
      return said
    })
    cases.push({ name, scored, exchanges, score: { tokens } })
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`)
}

const [url, kind, version] = process.argv.slice(2)
const place = `${import.meta.dirname}/../../engine-adapters/scoring/fixtures/${kind}-${version}.json`
await record({ url: url!, kind: kind as EngineKind, model }, place)
