import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { type EngineInstallation, type EngineSpec, modelName } from './engine.ts'
import { EngineProcess } from './engine-process.ts'

/** A few-shot load: of prompts with so many words of shared text, each followed by a question of its own. */
export interface FewShotLoad {
  readonly tasks: number
  readonly requests: number
  readonly sharedWords: number
  readonly ownWords: number
}

export const shortLoad: FewShotLoad = { tasks: 12, requests: 120, sharedWords: 125, ownWords: 10 }
/** That of the figures in the plugins' READMEs. */
export const longLoad: FewShotLoad = { tasks: 24, requests: 240, sharedWords: 250, ownWords: 20 }

const nobody = 'http://127.0.0.1:9/v1/replicas/none'

/** The tokens an engine reports for a few-shot load, and its answers. */
export interface ServedLoad {
  readonly prompt: number
  readonly cached: number
  /** of these, what came from a host tier; 0 if the engine does not say */
  readonly fromHost: number
  readonly answers: readonly string[]
}

/** Starts an engine with its plugin, sends the few-shot load one request after another, and stops it. */
export async function serveFewShotLoad(
  installation: EngineInstallation,
  spec: EngineSpec,
  load: FewShotLoad = shortLoad,
): Promise<ServedLoad> {
  const folder = await mkdtemp(join(tmpdir(), 'reprise-engine-'))
  const engine = await EngineProcess.prepare(spec, 'callbacks', { installation, callbackUrl: nobody, folder })
  try {
    await engine.start()
    let [prompt, cached] = [0, 0]
    const answers: string[] = []
    for (const text of fewShotPrompts(load)) {
      const { usage, choices } = await ask(engine.url, text)
      prompt += usage.prompt_tokens
      cached += usage.prompt_tokens_details?.cached_tokens ?? 0
      answers.push(choices[0]!.text)
    }
    return { prompt, cached, fromHost: await hitsOfHost(engine.url), answers }
  } finally {
    await engine.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Completion {
  readonly choices: readonly { readonly text: string }[]
  readonly usage: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null
  }
}

async function ask(url: string, prompt: string): Promise<Completion> {
  const response = await request(`${url}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: modelName, prompt, max_tokens: 2, temperature: 0 }),
  })
  return (await response.body.json()) as Completion
}

async function hitsOfHost(url: string): Promise<number> {
  const response = await request(`${url}/metrics`)
  const [, hits] = /^vllm:external_prefix_cache_hits_total(?:\{.*\})? (\S+)$/m.exec(await response.body.text()) ?? []
  return Number(hits ?? 0)
}

/** Yields prompts of a task's shared text and a new question; the n-th task is 1/n as frequent as the first. */
function* fewShotPrompts({ tasks, requests, sharedWords, ownWords }: FewShotLoad): Generator<string> {
  const random = createRandom()
  const weights = Array.from({ length: tasks }, (_, task) => 1 / (task + 1))
  const upTo = weights.map((_, task) => weights.slice(0, task + 1).reduce((sum, weight) => sum + weight, 0))
  for (let i = 0; i < requests; i++) {
    const drawn = random() * upTo.at(-1)!
    const task = upTo.findIndex((sum) => drawn <= sum)
    yield `${words(createRandom(task + 1), sharedWords)} Question ${i}: ${words(random, ownWords)}`
  }
}

function words(random: () => number, count: number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const word = (): string => Array.from({ length: 4 }, () => letters[Math.floor(random() * 26)]).join('')
  return Array.from({ length: count }, word).join(' ')
}

function createRandom(seed = 7): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}
