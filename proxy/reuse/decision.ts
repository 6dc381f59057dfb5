import type { SentPrompt } from '#index/cache-event.ts'
import type { KnownTurns, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { CitationMap } from '../answer/citations/citation-labels.ts'
import type { CertainLists } from '../chunks/certain-lists.ts'
import type { SkippedReason } from '../common/reasons.ts'
import type { Mode, RequestOptions } from '../common/request-options.ts'
import type { Received } from '../http/receive/read-received.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import type { PlacedRefusal } from '../prompt/find-contexts.ts'
import type { LayoutState } from '../prompt/lay-out-prompt.ts'
import type { Layout } from '../prompt/layout.ts'
import type { PlacedContext } from '../prompt/place-explicit-context.ts'
import { wordsOutside } from '../prompt/places/words-outside.ts'
import type { Wording } from '../prompt/wording.ts'
import type { Candidate, DifferingMessage, Route } from './plan-route.ts'
import type { TwoWorlds } from './two-worlds.ts'

/** What is to be done with one request. */
export interface Decision extends Route {
  /** changes to the JSON of the body that was read; undefined: the body goes as received */
  readonly splices: readonly BodySplice[] | undefined
  /** blocks are sent in another order than received, or something is left out or added */
  readonly isRewritten: boolean
  /** index of the candidate it is made for */
  readonly candidate: number
  /** its prompts, as the engine will see them */
  readonly sent: readonly SentPrompt[]
  /** by prompt: how many of its characters will be in the engine's exact cache; undefined: all of them */
  readonly exactLengths: readonly (number | undefined)[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  /** the request as sent, and as it would be sent in the other mode; undefined: its prompts could not be read */
  readonly worlds?: TwoWorlds | undefined
  /** on the candidate that holds most of it */
  readonly mostPredictedCachedTokens: number
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  /** by prompt: labels as sent → as received, for citations in the answer; empty if they are the same in all prompts */
  readonly citations: readonly CitationMap[]
  readonly options: RequestOptions
  /** why nothing was done, or why documents of a past turn are missing */
  readonly skipped: SkippedReason | undefined
  /** if documents were computed behind another text: the message that has it */
  readonly differing?: DifferingMessage | undefined
  /** what looks like a list of blocks but is left alone */
  readonly refusals: readonly PlacedRefusal[]
  /** the internal error, if that is why nothing was done */
  readonly fault: unknown
  /** milliseconds */
  readonly timing: { readonly parse: number; readonly index: number }
}

export interface DecisionInput extends Pick<LayoutState, 'tenant' | 'conversation' | 'known' | 'permit'> {
  readonly received: Received
  readonly mode: Mode
  /** nothing is rewritten, past turns included, because the engine refused the rewritten prompt */
  readonly isRefused?: boolean | undefined
  /** as configured, overridden by the request's header */
  readonly options: RequestOptions
  readonly wording: Wording
  /** finds lists with known borders */
  readonly certain?: CertainLists | undefined
  /** the result of `layOut`, if it has already run */
  readonly laidOut?: LaidOut | undefined
  /** how long finding and ordering blocks may take; undefined: no limit */
  readonly budgetMilliseconds?: number | undefined
}

/** The prompts of a request laid out. */
export interface LaidOut {
  readonly layout: Layout
  readonly placed: PlacedContext | undefined
  /** how long that took; undefined: nobody asks */
  readonly milliseconds?: number
}

export interface DecisionState {
  /** the replicas to choose from: at least one */
  readonly candidates: readonly Candidate[]
  readonly store: KnownTurns
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns?: KnownTurns | undefined
  /** Chooses a candidate by index, given the routes to all candidates or to the first few. */
  select(routes: readonly Route[]): number
  /** milliseconds */
  now(): number
}

/** Returns what a request asks, which is in its last text, without the blocks in that text. */
export function askedText({ contexts, worlds }: Pick<Decision, 'contexts' | 'worlds'>): string {
  const texts = worlds?.texts ?? []
  const last = [...texts.keys()].slice(-1)
  return wordsOutside({ message: { texts: last }, contexts: contexts.map(({ found }) => found) }, texts)
}
