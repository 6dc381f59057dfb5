import { percentile } from '../replay/report/replay-report.ts'
import { bestOf, exactMatch, tokenF1 } from './answer-scores.ts'
import { type Estimate, estimateMean } from './bootstrap.ts'
import type { ComparedRequest } from './compared-requests.ts'
import { type PassName, passes } from './passes.ts'
import type { Answer } from './send-request.ts'

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

interface ComparisonSubject {
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
  const refused = names.some((name) => answered.some(({ id }) => answers(name, id)!.refusedLogProbabilities))
  return {
    ...about,
    requests: answered.length,
    log_probabilities_refused: refused,
    passes: passes.flatMap(({ name }) => (names.includes(name) ? [toReport(name, answered, answers)] : [])),
    verdict: judge(answered, answers),
  }
}

function toReport(pass: PassName, requests: readonly ComparedRequest[], answers: Answers): PassReport {
  const own = requests.map(({ id }) => answers(pass, id)!)
  const estimate = (score: (own: Answer, received: Answer, right: readonly string[]) => number | undefined) =>
    estimateMean(
      requests.flatMap(({ id, answers: right = [] }, i) => score(own[i]!, answers('received', id)!, right) ?? []),
    )
  const times = own.map(({ firstTokenMilliseconds }) => firstTokenMilliseconds)
  const goldExact = estimate(({ answer }, _, right) => bestOf(exactMatch, answer, right))
  return {
    pass,
    requests: requests.length,
    changed: own.filter(({ changed }) => changed > 0).length,
    agreement: {
      exact: estimate(({ answer }, received) => exactMatch(answer, received.answer)) ?? nothing,
      f1: estimate(({ answer }, received) => tokenF1(answer, received.answer)) ?? nothing,
    },
    gold: goldExact
      ? {
          exact: goldExact,
          f1: estimate(({ answer }, _, right) => bestOf(tokenF1, answer, right))!,
          f1_difference: estimate(({ answer }, received, right) =>
            difference(bestOf(tokenF1, answer, right), bestOf(tokenF1, received.answer, right)),
          )!,
        }
      : null,
    log_probability_difference:
      estimate((one, received) => difference(one.logProbability, received.logProbability)) ?? null,
    prompt_tokens: sum(own.map(({ promptTokens }) => promptTokens)),
    cached_tokens: sum(own.map(({ cachedTokens }) => cachedTokens)),
    first_token_ms: {
      mean: estimateMean(times) ?? nothing,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
    },
  }
}

const nothing: Estimate = { mean: 0, low: 0, high: 0, count: 0 }

function difference(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b
}

/** Null if a value is not known. */
function sum(values: readonly (number | undefined)[]): number | null {
  return values.includes(undefined) ? null : values.reduce<number>((total, value) => total + value!, 0)
}

type Answers = (pass: PassName, id: string) => Answer | undefined

/**
 * With fewer rewritten requests than this, a verdict says that they are few. A 95 % percentile bootstrap of 20 normally
 * distributed values contains their mean in 92 of 100 cases; of 10 in 89, of 5 in 83, of 3 in 75 (2,000 samples each).
 */
const enough = 20

/** Says in one line whether answers to rewritten requests are worse than those of one more run as received. */
export function judge(requests: readonly ComparedRequest[], answers: Answers): string {
  if (requests.some(({ id }) => !answers('rewritten', id) || !answers('again', id))) {
    return 'no verdict: it takes the passes again and rewritten'
  }
  if (requests.length === 0) return 'nothing can be said: no request was answered in all passes'
  const withRightAnswers = requests.filter((request) => (request.answers ?? []).length > 0)
  const judged = withRightAnswers.length > 0 ? withRightAnswers : requests
  const rewritten = judged.filter(({ id }) => answers('rewritten', id)!.changed > 0).length
  const untested = whyUntested(judged, rewritten, answers)
  if (untested !== undefined) return `nothing was tested: ${untested}`
  const verdict = withRightAnswers.length > 0 ? judgeByRightAnswers(judged, answers) : judgeByAgreement(judged, answers)
  if (rewritten >= enough) return verdict
  return `${verdict}; rewritten requests: ${rewritten}, too few for the interval to mean much (${enough} would do)`
}

/** Returns why answers could not differ, whatever rewriting does; undefined if they could. */
function whyUntested(requests: readonly ComparedRequest[], rewritten: number, answers: Answers): string | undefined {
  if (rewritten === 0) {
    return `0 of ${requests.length} requests were rewritten (reprise doctor --prompt FILE says why)`
  }
  const passes = ['received', 'again', 'rewritten'] as const
  const texts = new Set(requests.flatMap(({ id }) => passes.map((pass) => answers(pass, id)!.answer)))
  // a single request always has the same answer, which proves nothing
  if (texts.size > 1 || requests.length === 1) return undefined
  return texts.has('')
    ? 'all answers are empty (a longer --max-tokens lets a model that thinks first come to its answer)'
    : `the engine gives the same answer to all ${requests.length} requests`
}

function judgeByRightAnswers(requests: readonly ComparedRequest[], answers: Answers): string {
  const differences = requests.map(({ id, answers: right }) => {
    const score = (pass: PassName): number => bestOf(tokenF1, answers(pass, id)!.answer, right!)!
    return score('rewritten') - score('received')
  })
  return inWords(differences, 'F1 against the right answers', ['better', 'worse'])
}

function judgeByAgreement(requests: readonly ComparedRequest[], answers: Answers): string {
  const differences = requests.map(({ id }) => {
    const agreement = (pass: PassName): number => tokenF1(answers(pass, id)!.answer, answers('received', id)!.answer)
    return agreement('rewritten') - agreement('again')
  })
  const words = ['answers agree more than from one run to the next', 'answers differ beyond noise'] as const
  return `${inWords(differences, 'agreement with the answers as received', words)}; the trace has no right answers`
}

function inWords(differences: readonly number[], what: string, [more, less]: readonly [string, string]): string {
  const { mean, low, high, count } = estimateMean(differences)!
  const interval = `95 % interval of the change of ${what}: ${signed(low)} to ${signed(high)}`
  if (low > 0) return `${more} by ${signed(mean)} in ${count} requests; ${interval}`
  if (high < 0) return `${less} by ${signed(mean)} in ${count} requests; ${interval}`
  return `no difference beyond noise in ${count} requests; ${interval}`
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
}
