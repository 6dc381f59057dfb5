import { isObject } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { EngineConnection, Reply } from '../engine-connection.ts'
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

/** What came of a request, and what the proxy did to it. */
export interface SentRequest extends Outcome {
  readonly moved: number
  readonly skipped: string | undefined
}

// half a second, doubled each time: a minute in all, besides what the engine asks for
const mostAttempts = 8
/** Some seven seconds: an engine may start beside the batch. */
const mostRefusals = 5
/** Of what is no answer, in characters. */
const longestQuote = 200
/** Whoever asks for more does not expect to be asked again by the same run. */
const longestWait = 3_600_000

/**
 * Sends a request of a batch and reads its answer. Sends it again while there is none, or one that another try may
 * change. Rejects if the connection's signal is aborted, and with a ConfigError where nothing listens for some seconds,
 * unless something `hasAnswered` before.
 */
export async function sendRequest(
  connection: EngineConnection,
  target: BatchTarget,
  { request, order }: PlannedRequest,
  body: string,
  { wait, hasAnswered }: Pick<Patience, 'wait'> & { hasAnswered(): boolean },
): Promise<SentRequest> {
  let isReached = false
  let refusals = 0
  const options = [...(target.isSet ? ['set'] : []), ...(order ? [`order=${order.join('.')}`] : [])].join()
  const headers = {
    'x-reprise-priority': String(target.priority),
    ...(options === '' ? {} : { 'x-reprise-options': options }),
  }
  const send = async (): Promise<Received> => {
    const reply = await connection.post(request.url, body, headers)
    const refusal = refusalIn(reply)
    if (refusal === undefined) isReached ||= reply.fault === undefined
    else if (!isReached && !hasAnswered() && ++refusals >= mostRefusals)
      throw new ConfigError(`${target.name} cannot be reached (${refusal}): is it running, and is the URL right?`)
    if (!isNoAnswer(reply.status, reply.json)) return { ...reply, fault: undefined }
    const text = `status ${reply.status}, but no JSON object: ${reply.text.slice(0, longestQuote) || 'nothing'}`
    return { ...reply, status: unanswered, text, fault: 'no_json_object' }
  }
  const isBusy = (status: number): boolean => status === unanswered || status === 429 || status >= 500
  const { answer } = await untilNotBusy(send, isBusy, { mostAttempts, longestWait, wait })
  const read = (name: string): string | undefined => answer.headers[name]?.toString()
  return {
    status: answer.status === unanswered ? undefined : answer.status,
    requestId: read('x-request-id'),
    body: answer.text,
    fault: answer.fault,
    moved: Number(read('x-reprise-moved') ?? 0),
    skipped: read('x-reprise-skipped'),
  }
}

interface Received extends Omit<Reply, 'fault'> {
  readonly fault: Outcome['fault']
}

/** No status: nobody answered, or the answer broke off. */
const unanswered = 0

/** Says why nothing listens at the engine, or at that of a proxy; undefined if something does. */
function refusalIn({ fault, text, json }: Reply): string | undefined {
  if (fault) return fault === 'refused' || fault === 'unknown_host' ? text : undefined
  const { error } = (isObject(json) ? json : {}) as { error?: { code?: unknown; message?: unknown } }
  if (error?.code !== 'engine_unreachable' || typeof error.message !== 'string') return undefined
  return /\((ECONNREFUSED|ENOTFOUND)\)/.test(error.message) ? error.message.replace(/: .*$/, '') : undefined
}
