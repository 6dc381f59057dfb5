import { bestOf, tokenF1 } from './answer-scores.ts'
import { estimateMean } from './bootstrap.ts'
import type { ComparedRequest } from './compared-requests.ts'
import type { PassName } from './passes.ts'
import type { Answer } from './send-request.ts'

/** Returns what a pass answered to a request. */
export type Answers = (pass: PassName, id: string) => Answer | undefined

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
    const score = (pass: PassName): number => bestOf(tokenF1, answers(pass, id)!.answer, right!)
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
