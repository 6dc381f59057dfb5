import type { EngineSettings } from '#proxy/config/config.ts'
import { type EngineConnection, isGood, type Reply } from '../../engine-connection.ts'
import { type Finding, fatal, notChecked, ok, warning } from '../finding.ts'

/** A model as `/v1/models` lists it. */
export interface ServedModel {
  readonly id: string
  readonly owned_by?: unknown
  readonly max_model_len?: unknown
}

/**
 * Asks for the models: an answer of the right shape shows that there is an engine, and what it serves. An engine whose
 * models the configuration states need not list them.
 */
export async function checkReachable(
  connection: EngineConnection,
  { url, models: stated }: Pick<EngineSettings, 'url' | 'models'>,
  hasKey: boolean,
): Promise<[Finding, ServedModel[]]> {
  const reply = await connection.get('/v1/models')
  const models = isGood(reply) ? modelsOf(reply.json) : undefined
  if (models) return [ok('engine', `answers in ${Math.round(reply.milliseconds)} ms`), models]
  if (!stated || reply.status !== 404) return [fatal('engine', ...faultOf(reply, url, hasKey)), []]
  const found = `answers, and does not list its models: those in the configuration are taken (${stated.join(', ')})`
  return [ok('engine', found), stated.map((id) => ({ id }))]
}

function faultOf(reply: Reply, url: string, hasKey: boolean): [found: string, fix: string] {
  const { status, fault, text } = reply
  if (fault) return [text, fixFor(fault, url)]
  if (status === 401 || status === 403) {
    return hasKey
      ? [`refuses the API key (${status})`, 'give the key the engine was started with in REPRISE_ENGINE_API_KEY']
      : [`asks for an API key (${status})`, 'set the environment variable REPRISE_ENGINE_API_KEY to it']
  }
  if (status === 404 || isGood(reply)) {
    const what = text.trimStart().startsWith('<') ? 'a web page' : status === 404 ? '404' : 'something else'
    return [
      `is no OpenAI-compatible engine: /v1/models answers with ${what}`,
      "give the engine's own address without /v1, such as http://HOST:8000, not a page, dashboard or other path",
    ]
  }
  if (status === 503) return ['is not ready (503)', 'wait until the model is loaded, and read its log']
  return [`answers ${status} to /v1/models`, "look into the engine's log"]
}

function fixFor(fault: NonNullable<Reply['fault']>, url: string): string {
  const { protocol, host } = new URL(url)
  switch (fault) {
    case 'refused':
      return `start the engine, or correct host and port: nothing listens at ${host}`
    case 'unknown_host':
      return `correct the name: this machine cannot resolve ${host}`
    case 'tls':
      return protocol === 'https:'
        ? "write http:// if the engine speaks no TLS; for a certificate of your own name its authority in NODE_EXTRA_CA_CERTS here and in engines[].tls.ca for 'serve'"
        : 'write https:// if the engine speaks TLS'
    case 'timeout':
      return "see whether the engine hangs or a firewall drops packets; a slow one needs '--timeout-seconds'"
    case 'broken':
      return protocol === 'http:'
        ? 'see whether it speaks HTTP, and write https:// if it speaks TLS'
        : 'see whether it speaks HTTP'
  }
}

function modelsOf(json: unknown): ServedModel[] | undefined {
  const data = (json as { data?: unknown } | null | undefined)?.data
  if (!Array.isArray(data)) return undefined
  return data.filter((model): model is ServedModel => typeof model?.id === 'string')
}

/** Chooses the model to check with: the one that was named, or the first. */
export function selectModel(
  models: readonly ServedModel[],
  named: string | undefined,
): [Finding, ServedModel | undefined] {
  const model = named === undefined ? models[0] : models.find(({ id }) => id === named)
  if (model) {
    const others = models.length > 1 ? `, of ${models.length}${named === undefined ? '; choose with --model' : ''}` : ''
    return [ok('model', `${model.id}${others}`), model]
  }
  if (models.length === 0) return [fatal('model', 'no model is served', 'start the engine with a model'), undefined]
  const served = models.slice(0, 5).map(({ id }) => id)
  const fix = `choose of ${served.join(', ')}${models.length > served.length ? ', …' : ''}`
  return [fatal('model', `'${named}' is not served`, fix), undefined]
}

/** Maximum tokens of prompt and answer together; undefined if the engine does not say. */
export function contextLengthOf({ max_model_len }: ServedModel): number | undefined {
  return typeof max_model_len === 'number' && max_model_len > 0 ? max_model_len : undefined
}

/** With fewer tokens than this, a few retrieved documents do not fit. */
const shortContext = 4096

/** Judges whether a context of several documents can be sent at all. */
export function judgeContextLength(tokens: number | undefined): Finding {
  if (tokens === undefined) return notChecked('context_length', 'the engine does not say')
  const found = `${tokens.toLocaleString('en-US')} tokens`
  if (tokens >= shortContext) return ok('context_length', found)
  return warning('context_length', found, 'raise --max-model-len (SGLang: --context-length): documents need room')
}
