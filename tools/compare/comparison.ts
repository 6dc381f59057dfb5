import { bestOf, exactMatch, tokenF1 } from './answer-scores.ts'
import { type Estimate, estimateMean } from './bootstrap.ts'
import type { ComparedRequest } from './compared-requests.ts'
import { type PassName, passes } from './passes.ts'
import type { Answer } from './send-request.ts'
import { type Answers, judge } from './verdict.ts'

/** The results of one pass; differences are from the requests as received, over the same requests. */
export interface PassReport {
  readonly pass: PassName
  readonly requests: number
  /** requests in which blocks were moved or replaced by pointers */
  readonly changed: number
  /** compared with the answers as received: the share that is equal, and token F1 */
  readonly agreement: { readonly exact: Estimate; readonly f1: Estimate }
  /** compared with correct answers; null: the trace has none */
  readonly gold: { readonly exact: Estimate; readonly f1: Estimate; readonly f1_difference: Estimate } | null
  /** difference of the mean log-probability of an answer's tokens; null: the engine does not return them */
  readonly log_probability_difference: Estimate | null
  /** null: the engine does not say */
  readonly prompt_tokens: number | null
  /** null: the engine does not say */
  readonly cached_tokens: number | null
  readonly first_token_ms: { readonly mean: Estimate; readonly p50: number; readonly p99: number }
}

/** What is compared. */
export interface ComparisonSubject {
  readonly trace: string
  readonly engine: string
  readonly model: string
  /** the engine keeps the passes' caches apart */
  readonly caches_apart: boolean
  /** recorded requests that are not chats */
  readonly left_out: number
}

/** All passes, and the verdict that follows from them. */
export interface Comparison extends ComparisonSubject {
  readonly requests: number
  /** the engine refuses requests for log-probabilities */
  readonly log_probabilities_refused: boolean
  readonly passes: readonly PassReport[]
  readonly verdict: string
}

/** Compares the passes that were run, over the requests that all of them answered. */
export function compare(
  about: ComparisonSubject,
  names: readonly PassName[],
  requests: readonly ComparedRequest[],
  answers: Answers,
): Comparison {
  const answered = requests.filter(({ id }) => names.every((name) => answers(name, id)))
  const reports = passes
    .filter(({ name }) => names.includes(name))
    .map(({ name }) => toReport(name, answered, (pass, id) => answers(pass, id)!))
  const refused = names.some((name) => answered.some(({ id }) => answers(name, id)!.refusedLogProbabilities))
  return {
    ...about,
    requests: answered.length,
    log_probabilities_refused: refused,
    passes: reports,
    verdict: judge(answered, answers),
  }
}

function toReport(
  pass: PassName,
  requests: readonly ComparedRequest[],
  answerOf: (pass: PassName, id: string) => Answer,
): PassReport {
  const pairs = requests.map((request) => {
    return { request, received: answerOf('received', request.id), own: answerOf(pass, request.id) }
  })
  const own = pairs.map((pair) => pair.own)
  const times = own.map(({ firstTokenMilliseconds }) => firstTokenMilliseconds).sort((a, b) => a - b)
  const sum = (values: readonly (number | undefined)[]): number | null =>
    values.some((value) => value === undefined) ? null : values.reduce<number>((total, value) => total + value!, 0)
  const judged = pairs.filter(({ request }) => (request.answers ?? []).length > 0)
  const differences = pairs.flatMap(({ received, own: { logProbability } }) =>
    logProbability === undefined || received.logProbability === undefined
      ? []
      : [logProbability - received.logProbability],
  )
  return {
    pass,
    requests: requests.length,
    changed: own.filter(({ changed }) => changed > 0).length,
    agreement: {
      exact: mean(pairs.map(({ received, own: { answer } }) => exactMatch(answer, received.answer))),
      f1: mean(pairs.map(({ received, own: { answer } }) => tokenF1(answer, received.answer))),
    },
    gold:
      judged.length === 0
        ? null
        : {
            exact: mean(judged.map(({ own: { answer }, request }) => bestOf(exactMatch, answer, request.answers!))),
            f1: mean(judged.map(({ own: { answer }, request }) => bestOf(tokenF1, answer, request.answers!))),
            f1_difference: mean(
              judged.map(({ own: { answer }, received, request }) => {
                return bestOf(tokenF1, answer, request.answers!) - bestOf(tokenF1, received.answer, request.answers!)
              }),
            ),
          },
    log_probability_difference: estimateMean(differences) ?? null,
    prompt_tokens: sum(own.map(({ promptTokens }) => promptTokens)),
    cached_tokens: sum(own.map(({ cachedTokens }) => cachedTokens)),
    first_token_ms: { mean: mean(times), p50: at(times, 0.5), p99: at(times, 0.99) },
  }
}

/** Estimates a mean; all zeros if there are no values. */
function mean(values: readonly number[]): Estimate {
  return estimateMean(values) ?? { mean: 0, low: 0, high: 0, count: 0 }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
