import type { Marks } from '../scan/find-marks.ts'
import type { ContextList } from './context-list.ts'
import type { Evidence } from './read-evidence.ts'

// what belongs to who asks, but for the question
const OF_OWN =
  /(?<!\p{L})(?:my|our|i (?:wrote|made|want|have written)|meine?[rnms]?|unsere?[rnms]?|mon|mes|notre|nos|mis?|nuestr[oa]s?|mo[ij]|наш\p{L}*|мо[йеия])(?!\p{L})(?! (?:question|query|frage|pregunta|вопрос))|我的|我们的|私の|내 /iu
// what is written, changed or done, and its order with it
const OF_WORK =
  /(?<!\p{L})(?:create|write|writing|change[sd]?|edit|modif(?:y|ied)|appl(?:y|ied)|add|updated?|delete|migrations?|patch|commits?|pull request|load order|run with|to (?:read|create|do|build)|steps?|plan|actions?|agenda|schedule|programme|tutorial|recipe|playlist|bibliography|works cited|thesis|novel|poem|blog post|ablauf|schritte|roman|étapes|pasos)(?!\p{L})/iu
// `1. Install it`, but not `[1] …`
const LIKE_STEPS = /[ \t]*\(?\d{1,3}[.)][ \t]/y
// `Sources:`, `Search results:`
const SHORT = /^[^\p{L}]*\p{L}+(?:[ \p{L}-]{0,24})[^\p{L}]*$/u
// `Use the following documents:`
const GIVEN =
  /(?<!\p{L})(?:search|retrieved|relevant|found|following|provided|given|use|using|these|here are|based on)(?!\p{L})|搜索|检索|検索|gefunden|folgende|suivant|siguiente/iu

/** Whether a list is announced as what somebody writes or does: it was not retrieved, and its order may be that of the work. */
export function isOfWork(heading: string): boolean {
  return OF_OWN.test(heading) || OF_WORK.test(heading)
}

/** Whether numbers stand in front of its blocks as in front of steps: `1. Install it (https://a.example)`. */
export function isLikeSteps(text: string, { form, blocks: [first] }: ContextList): boolean {
  LIKE_STEPS.lastIndex = first!.start
  return form === 'number' && LIKE_STEPS.test(text)
}

/** Whether a list comes from a search, or is announced by little more than a word for retrieved texts. */
export function isRetrieved(
  { source }: Marks,
  { inContainer }: ContextList,
  { heading, announcesSet }: Evidence,
): boolean {
  return source === 'search' || inContainer === true || (announcesSet && (SHORT.test(heading) || GIVEN.test(heading)))
}
