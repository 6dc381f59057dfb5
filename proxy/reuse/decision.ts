import type { SentPrompt } from '#index/cache-event.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { CitationMap } from '../answer/citations/citation-labels.ts'
import type { CertainLists } from '../chunks/certain-lists.ts'
import type { TwoWorlds } from '../gain/two-worlds.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import type { VolatileFields } from '../prompt/cut-ranks.ts'
import type { PatternLists, PlacedRefusal } from '../prompt/find-contexts.ts'
import type { Layout } from '../prompt/layout.ts'
import type { PlacedContext } from '../prompt/place-explicit-context.ts'
import type { Received } from '../request/call/read-received.ts'
import type { RequestOptions } from '../request/call/request-options.ts'
import type { Candidate, Route } from '../routing/plan-route.ts'
import type { ReusedContext } from './reused-prompt.ts'
import type { Wording } from './wording.ts'

export type Mode = 'on' | 'shadow' | 'off'

/** What is to be done with one request. */
export interface Decision {
  /** what is changed in the JSON of the body that was read; undefined: the body goes as received */
  readonly splices: readonly BodySplice[] | undefined
  /** which of the candidates it is made for */
  readonly candidate: number
  readonly contexts: readonly ReusedContext[]
  /** its prompts, as the engine will see them */
  readonly sent: readonly SentPrompt[]
  /** by prompt: how many of its characters will stand in the engine's exact cache; undefined: all of them */
  readonly exactLengths: readonly (number | undefined)[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  /** as it is sent, and as it would be in the other mode; undefined: its prompts could not be read */
  readonly worlds?: TwoWorlds | undefined
  /** as estimated before the engine has counted */
  readonly promptTokens: number
  readonly predictedCachedTokens: number
  /** behind these, what is taken over from another position and not computed again; undefined: nothing ever is */
  readonly predictedReusedTokens: number | undefined
  /** of the candidate that holds most of it */
  readonly mostPredictedCachedTokens: number
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  /** labels as sent → as received, for citations in the answer; empty when they are the same */
  readonly citations: CitationMap
  readonly options: RequestOptions
  /** why nothing was done, or why documents of a past turn are missing */
  readonly skipped: string | undefined
  /** what looks like a list of blocks and is left alone */
  readonly refusals: readonly PlacedRefusal[]
  /** a fault of ours, if that is why */
  readonly fault: unknown
  /** milliseconds */
  readonly timing: { readonly parse: number; readonly index: number }
}

export interface DecisionInput {
  readonly received: Received
  readonly mode: Mode
  readonly tenant: string
  /** name of the conversation, from the header */
  readonly conversation: string | undefined
  /** as configured and as the header has them */
  readonly options: RequestOptions
  readonly wording: Wording
  /** blocks are moved only where that saves more than the annotation takes */
  readonly mustPay?: boolean | undefined
  /** what becomes of fields that only rank blocks; undefined: they are kept */
  readonly volatileFields?: VolatileFields | undefined
  readonly patternLists?: PatternLists | undefined
  /** finds lists whose borders are known */
  readonly certain?: CertainLists | undefined
  /** what `layOut` made of it, if that was done before */
  readonly laidOut?: LaidOut | undefined
  /** how long finding and ordering blocks may take; undefined: as long as it takes */
  readonly budgetMilliseconds?: number | undefined
}

/** The prompts of a request laid out, and what that took. */
export interface LaidOut {
  readonly layout: Layout
  readonly placed: PlacedContext | undefined
  readonly milliseconds: number
}

export interface DecisionState {
  /** the replicas that may be chosen: one at least */
  readonly candidates: readonly Candidate[]
  readonly store: ConversationStore
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns?: Pick<ConversationStore, 'recall'> | undefined
  /** chooses among the candidates whose routes these are: all, or the first of them */
  select(routes: readonly Route[]): number
  /** milliseconds */
  now(): number
}
