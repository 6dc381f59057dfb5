import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import { promptPaths } from '#engine-adapters/prompt-api.ts'
import { guessApi } from '#proxy/prompt/formats/guess-api.ts'
import { readTokens, tokenQuestions } from '#proxy/replicas/reports/token-question.ts'
import { type EngineConnection, isGood } from '../engine/engine-connection.ts'
import { type DoctorOptions, type Finding, warning } from '../finding.ts'
import type { ProbedEngine } from './check-prefix-cache.ts'
import { smallerSteps } from './judge-page-size.ts'

/** Asks the engine how long a prompt is, and warns of one that fills no page of its cache. Empty if it does not say. */
export async function checkPromptLength(
  connection: EngineConnection,
  { file, json }: NonNullable<DoctorOptions['prompt']>,
  { kind, model, cache }: ProbedEngine,
): Promise<Finding[]> {
  const members = tryObject(json.replace(/^\uFEFF/, ''))
  if (!members || !cache.pageTokens) return []
  const api = guessApi(members)
  const body = Buffer.from(JSON.stringify({ ...members, model: model.id }))
  for (const way of tokenQuestions(adapterFor(kind), { api, path: promptPaths[api], body })?.ways ?? []) {
    const reply = await connection.post(way.path, JSON.parse(way.body))
    const length = isGood(reply) ? readTokens(reply.text)?.[0]?.length : undefined
    if (length !== undefined) return judgePromptLength(file, length, cache)
  }
  return []
}

/** Warns of a prompt that fills no page. */
export function judgePromptLength(file: string, tokens: number, cache: CacheConfig): Finding[] {
  const { pageTokens = 0, matchTokens } = cache
  // the last token is always computed
  if (tokens > pageTokens) return []
  const rest = matchTokens
    ? `only prompts that go on from its end find it, in steps of ${matchTokens}`
    : 'nothing of it is found again'
  const found = `${file}: its ${tokens} tokens fill no block of the engine's cache (${pageTokens}): ${rest}`
  return [warning('prompt_length', found, smallerSteps(cache) ?? 'none is known; longer prompts are found')]
}
