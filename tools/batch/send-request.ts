import type { Agent } from 'undici'
import { pathPrefixOf } from '#engine-adapters/engine-client.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { type Patience, untilNotBusy } from '../until-not-busy.ts'
import type { PlannedRequest } from './plan-batch.ts'
import { isNoAnswer, type Outcome } from './results-file.ts'

/** Where the requests of a batch go, and how. */
export interface BatchTarget {
  readonly url: string
  /** what answers there, in messages */
  readonly name: string
  readonly key: string | undefined
  /** lower is sooner */
  readonly priority: number
  /** whether the batch states that the order of its lists means nothing */
  readonly isSet: boolean
}

interface SentRequest extends Outcome {
  readonly moved: number
  readonly skipped: string | undefined
}

// half a second, doubled each time: a minute in all, besides what the engine asks for
const mostAttempts = 8
const neverConnected: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND'])
/** Some seven seconds: an engine may start beside the batch. */
const mostRefusals = 5
/** Of what is no answer, in characters. */
const longestQuote = 200
/** Whoever asks for more does not expect to be asked again by the same run. */
const longestWait = 3_600_000

/**
 * Sends a request of a batch and reads its answer. Sends it again while there is none, or one that another try may
 * change. Rejects if `signal` is aborted, and with a ConfigError where nothing listens for some seconds, unless
 * something `hasAnswered` before.
 */
export async function sendRequest(
  agent: Agent,
  target: BatchTarget,
  planned: PlannedRequest,
  body: string,
  { signal, wait, hasAnswered }: Pick<Patience, 'wait'> & { readonly signal: AbortSignal; hasAnswered(): boolean },
): Promise<SentRequest> {
  let isReached = false
  let refusals = 0
  const refused = (why: string): void => {
    if (isReached || hasAnswered() || ++refusals < mostRefusals) return
    throw new ConfigError(`${target.name} cannot be reached (${why}): is it running, and is the URL right?`)
  }
  const send = async (): Promise<Received> => {
    try {
      const answer = await post(agent, target, planned, body, signal)
      const refusal = engineRefusal(answer.text)
      if (refusal === undefined) isReached = true
      else refused(refusal)
      if (!isNoAnswer(answer.statusCode, answer.text)) return answer
      const text = `status ${answer.statusCode}, but no JSON object: ${answer.text.slice(0, longestQuote) || 'nothing'}`
      return { ...answer, statusCode: unanswered, text, fault: 'no_json_object' }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ConfigError) throw error
      const { code, message } = error as NodeJS.ErrnoException
      if (neverConnected.has(code)) refused(message || String(code))
      return { statusCode: unanswered, headers: {}, text: message }
    }
  }
  const isBusy = (status: number): boolean => status === unanswered || status === 429 || status >= 500
  const { answer } = await untilNotBusy(send, isBusy, { mostAttempts, longestWait, wait })
  const { statusCode, headers, text } = answer
  const read = (name: string): string | undefined => headers[name]?.toString()
  return {
    status: statusCode === unanswered ? undefined : statusCode,
    requestId: read('x-request-id'),
    body: text,
    fault: answer.fault,
    moved: Number(read('x-reprise-moved') ?? 0),
    skipped: read('x-reprise-skipped'),
  }
}

interface Received {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly fault?: Outcome['fault']
}

/** Returns what a proxy says whose engine nothing listens for; undefined for any other answer. */
function engineRefusal(text: string): string | undefined {
  const { error } = (tryObject(text) ?? {}) as { error?: { code?: unknown; message?: unknown } }
  if (error?.code !== 'engine_unreachable' || typeof error.message !== 'string') return undefined
  const [, code] = /\((E[A-Z]+)\)/.exec(error.message) ?? []
  return neverConnected.has(code) ? error.message.replace(/: .*$/, '') : undefined
}

/** No status: nobody answered, or the answer broke off. */
const unanswered = 0

async function post(
  agent: Agent,
  { url, key, priority, isSet }: BatchTarget,
  { request, order }: PlannedRequest,
  body: string,
  signal: AbortSignal,
): Promise<Received> {
  const base = new URL(url)
  const options = [...(isSet ? ['set'] : []), ...(order ? [`order=${order.join('.')}`] : [])].join()
  const answer = await agent.request({
    origin: base.origin,
    path: pathPrefixOf(base) + request.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-reprise-priority': String(priority),
      ...(options === '' ? {} : { 'x-reprise-options': options }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body,
    signal,
  })
  return { statusCode: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}
