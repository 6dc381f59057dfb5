import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import { guessApi } from '#proxy/prompt/formats/read-prompt-body.ts'
import { askTokens } from '../engine/check-token-endpoint.ts'
import type { EngineConnection } from '../engine/engine-connection.ts'
import { type DoctorOptions, type Finding, ok, warning } from '../finding.ts'
import type { ProbedEngine } from './probe-prefix-cache.ts'

/** With larger pages than this, much of a context may be after the last full page. */
const largePage = 256

/** Reports the page size that the engine states; undefined if it does not. */
export function judgePageSize(cache: CacheConfig): Finding | undefined {
  const { pageTokens: size, capacityTokens, matchTokens } = cache
  if (size === undefined) return undefined
  const room = capacityTokens ? `, room for ${capacityTokens.toLocaleString('en-US')} tokens` : ''
  const found = `${size} ${size === 1 ? 'token' : 'tokens'}${room}`
  if (size <= largePage) return ok('page_size', found)
  const ends = matchTokens ? `; prompts are found to their ends in steps of ${matchTokens}` : ''
  const cause = cache.hasStates && !cache.isPageChosen ? ", set by the size of the model's states" : ''
  const fix = smallerSteps(cache)
  return (fix ? warning : ok)('page_size', `${found}${cause}${ends}`, fix)
}

/** What makes the engine find more of a prompt than whole pages of this size; undefined if nothing does. */
export function smallerSteps(cache: CacheConfig): string | undefined {
  const { isPageChosen, matchTokens, pageTokens = 0 } = cache
  if (!cache.hasStates)
    return 'choose smaller pages (vLLM: --block-size, SGLang: --page-size): only full pages are shared'
  // a state is as large as many tokens of full attention, which sets the least size of vLLM's blocks
  const chosen = 'start vLLM without --block-size: its blocks are then the smallest that hold a state of the model'
  if (matchTokens) return isPageChosen ? chosen : undefined
  // it must divide the blocks, which are multiples of 16
  const match = `start vLLM with --prefix-match-unit ${pageTokens % 32 === 0 ? 32 : 16}: prompts are then found to their ends, but shared beginnings only in whole blocks`
  return isPageChosen ? `${chosen}, or ${match}` : match
}

/** Asks the engine how long a prompt is, and warns of one that fills no page of its cache. Empty if it does not say. */
export async function checkPromptLength(
  connection: EngineConnection,
  { file, json }: NonNullable<DoctorOptions['prompt']>,
  { kind, model, cache }: ProbedEngine,
): Promise<Finding[]> {
  const members = tryObject(json.replace(/^\uFEFF/, ''))
  if (!members || !cache.pageTokens) return []
  const { tokens } = await askTokens(connection, kind, guessApi(members), { ...members, model: model.id })
  return tokens ? judgePromptLength(file, tokens.length, cache) : []
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
