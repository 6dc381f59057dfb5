import { setImmediate as afterIo } from 'node:timers/promises'
import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RequestId } from '#index/context-block.ts'
import { tenantName } from '../access/tenancy.ts'
import type { Call, CallContent, RoutedCall } from '../call/call.ts'
import type { PromptSet } from '../prompt/body/prompt.ts'
import { writeBody } from '../prompt/body/prompt-body.ts'
import type { AskedPrompt } from '../replicas/reports/token-asker.ts'
import type { TwoWorlds } from '../reuse/two-worlds.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ReportedUsage } from '../telemetry/reported-usage.ts'
import type { RequestGain } from '../telemetry/request-telemetry.ts'
import type { Gain } from './gain.ts'
import type { GainLabels, LeftOut } from './gain-ledger.ts'
import type { ComparedHit, ComparedPrompt, ReplicaWorlds } from './replica-worlds.ts'
import type { SeenCharacters } from './seen-spans.ts'
import { toStandIns } from './stand-in-tokens.ts'

/** The request as it goes to the engine, and as it was received. */
type OtherQuestion = Pick<CallContent, 'body' | 'received'> & { readonly request: EngineRequest }

/** What sending it brought about. */
interface FollowedRequest {
  /** of its prompts */
  readonly ids: readonly RequestId[]
  /** has the engine's own tokens of the request, if it is asked for them */
  readonly follower: { readonly asked: Promise<readonly AskedPrompt[] | undefined> | undefined }
}

/** Longer prompts are not followed: they would hold up other requests. In UTF-16 units. */
const longestPrompt = 1024 * 1024

/** Follows one request through both worlds, alongside the request itself. */
export class GainFollower {
  /** the outcome, once it is known */
  figures: RequestGain | undefined
  readonly #gain: Gain
  readonly #metrics: Metrics
  readonly #routed: RoutedCall
  readonly #labels: GainLabels
  readonly #worlds: ReplicaWorlds
  readonly #call: Call
  readonly #ids: readonly RequestId[]
  readonly #follower: FollowedRequest['follower']
  /** kept if its answer has to be appended to it */
  #prompt: ComparedPrompt | undefined
  #lengths = { sent: 0, other: 0 }
  #isExact = false
  /** its prompts wait for their turn in both worlds */
  #isWaiting = false
  #hit: ComparedHit | undefined
  #seen: SeenCharacters | undefined
  /** why it is not followed, if its engine reports what it found */
  #leftOut: LeftOut = 'too_many'
  /** nothing else ran at its engine when it arrived there */
  #wasAlone = false
  #planned: readonly RequestId[] = []
  #usage: ReportedUsage | undefined
  #wasRun: boolean | undefined

  constructor(gain: Gain, metrics: Metrics, routed: RoutedCall, call: Call, { ids, follower }: FollowedRequest) {
    this.#gain = gain
    this.#metrics = metrics
    this.#routed = routed
    this.#worlds = gain.worldsOf(routed.replica.id)
    this.#call = call
    this.#ids = ids
    this.#follower = follower
    this.#labels = {
      replicas: routed.replica.id,
      routes: call.api,
      tenants: tenantName(call.caller.tenant),
      shapes: shapeOf(call.content.received.prompt?.set, routed.decision.blocks),
    }
  }

  /** The request goes to the engine. All further work is done once it is on its way. */
  sent(request: EngineRequest): void {
    const { worlds } = this.#routed.decision
    if (!worlds) return
    const length = worlds.texts.reduce((sum, text) => sum + text.length, 0)
    if (length > longestPrompt) this.#leftOut = 'too_long'
    const { body, received } = this.#call.content
    const find = async (): Promise<readonly ComparedPrompt[] | undefined> => {
      await afterIo()
      return this.#find(worlds, { request, body, received }).finally(() => worlds.release())
    }
    const hit = length > longestPrompt ? undefined : this.#worlds.follow(find, () => this.#shape)
    if (!hit) {
      worlds.release()
      return
    }
    this.#isWaiting = true
    this.#wasAlone = this.#routed.replica.admission.inFlight <= 1
    this.#plan(worlds)
    // a fault of ours in a figure harms nothing else
    void hit.then(this.#served).catch(() => {})
  }

  /** Returns what the engine would have found cached if nothing had ever been rewritten; undefined: not known yet. */
  baselineOf(predictedCachedTokens: number): number | undefined {
    const { worlds, promptTokens } = this.#routed.decision
    if (!worlds || worlds.isShadow) return predictedCachedTokens
    return this.#hit && this.#otherOf(predictedCachedTokens, this.#hit, promptTokens)
  }

  /** Call when the engine has counted the request; `firstByteSeconds`: since it went there. */
  counted(usage: ReportedUsage, firstByteSeconds: number | undefined): void {
    const { promptTokens, cachedTokens } = usage
    this.#usage = usage
    for (const id of this.#planned) this.#gain.plannedOf(this.#routed.replica.id).used(id, promptTokens, undefined)
    // an answer that is not streamed begins only when it is complete
    if (this.#wasAlone && this.#call.isStream && cachedTokens !== undefined && firstByteSeconds !== undefined) {
      this.#worlds.rate.note(promptTokens - cachedTokens, firstByteSeconds)
    }
  }

  /** Call when the request is over. `wasRun`: the engine has seen it. */
  ended(wasRun: boolean): void {
    this.#wasRun = wasRun
    if (!this.#isWaiting) this.#settle()
    if (this.#planned.length > 0) this.#gain.plannedOf(this.#routed.replica.id).ended(this.#planned)
  }

  /** Returns its prompts in both worlds. */
  async #find(worlds: TwoWorlds, question: OtherQuestion): Promise<readonly ComparedPrompt[]> {
    const { tenant } = this.#call.caller
    const { asked } = this.#follower
    this.#seen = this.#gain.seen.note(tenant, worlds.receivedParts())
    const prompts = (asked && (await this.#askOther(asked, worlds, question))) ?? estimate(worlds, tenant)
    this.#note(prompts)
    return prompts
  }

  readonly #served = (hit: ComparedHit | undefined): void => {
    this.#hit = hit
    this.#isWaiting = false
    if (this.#wasRun !== undefined) this.#settle()
  }

  #leaveOut(reason: LeftOut): void {
    this.#gain.ledger.leaveOut(reason)
    this.#metrics.gainUncounted.inc({ reason })
  }

  /** Counts a request that is over, and whose turn in both worlds has come. */
  #settle(): void {
    if (!this.#wasRun) return
    const { cachedTokens, promptTokens = 0, completionTokens = 0 } = this.#usage ?? {}
    const { seen: known, all } = this.#seen ?? { seen: 0, all: 0 }
    const seen = all > 0 ? Math.round((known / all) * promptTokens) : 0
    if (cachedTokens === undefined) {
      this.#metrics.seenTokens.inc(seen)
      this.#leaveOut('unreported')
      return
    }
    const { worlds } = this.#routed.decision
    // unreadable prompts are never rewritten; one that was not followed gained nothing, as far as known
    const other = this.#hit ? this.#otherOf(cachedTokens, this.#hit, promptTokens) : cachedTokens
    const isShadow = worlds?.isShadow ?? false
    const baseline = isShadow ? cachedTokens : other
    const replica = this.#routed.replica.id
    // the counters of both worlds are over one set of requests
    this.#metrics.baselineCachedTokens.inc({ replica }, baseline)
    this.#metrics.usage.note(this.#call.caller, { baseline_cached_tokens: baseline })
    if (isShadow) this.#metrics.shadowCachedTokens.inc({ replica }, other)
    if (worlds && !this.#hit) {
      this.#leaveOut(this.#leftOut)
      return
    }
    const shadowCachedTokens = isShadow ? other : undefined
    const seenTokens = Math.max(seen, cachedTokens, other)
    this.figures = { baselineCachedTokens: baseline, shadowCachedTokens, seenTokens }
    this.#metrics.seenTokens.inc(seenTokens)
    if (this.#prompt) this.#worlds.answered(this.#prompt, completionTokens)
    this.#gain.ledger.note(this.#labels, {
      requests: 1,
      prompt_tokens: promptTokens,
      cached_tokens: cachedTokens,
      without_tokens: baseline,
      with_tokens: shadowCachedTokens ?? cachedTokens,
      possible_tokens: seenTokens,
      model_error_tokens: this.#hit ? Math.round(this.#hit.sent * this.#scale(promptTokens)) - cachedTokens : 0,
      exact_requests: Number(this.#isExact),
    })
  }

  /**
   * Returns what is found in the world that is not sent: what was found in this one, plus the difference between the
   * two according to the model. So anything that the model does not know, such as an engine that was warm before we
   * started, affects both alike.
   */
  #otherOf(found: number, { sent, other }: ComparedHit, promptTokens: number): number {
    const scale = this.#scale(promptTokens)
    const difference = (other - sent) * scale
    // a rewritten prompt is longer by its annotation
    const most = Math.ceil(this.#lengths.other * scale)
    return Math.max(0, Math.min(most, Math.round(found + difference)))
  }

  /** How many tokens one number of the compared prompts stands for. */
  #scale(promptTokens: number): number {
    if (this.#isExact) return 1
    // the texts of both worlds are taken to be as dense as the one that was counted
    return this.#lengths.sent > 0 ? promptTokens / this.#lengths.sent : 0
  }

  #note(prompts: readonly ComparedPrompt[]): void {
    const sum = (world: 'sent' | 'other'): number => prompts.reduce((total, prompt) => total + prompt[world].length, 0)
    this.#lengths = { sent: sum('sent'), other: sum('other') }
    this.#isExact = prompts.every(({ isExact }) => isExact)
    if (this.#isExact && prompts.length === 1) this.#prompt = prompts[0]
  }

  get #shape(): CacheSize {
    const { statedCache, adapter } = this.#routed.replica
    const { capacityTokens, pageTokens = adapter.usualPageTokens } = statedCache ?? {}
    return { capacityTokens, pageTokens }
  }

  /** Also mirrors what is only planned: later plans are made against it. */
  #plan(worlds: TwoWorlds): void {
    if (!worlds.isShadow) return
    const planned = this.#gain.plannedOf(this.#routed.replica.id)
    planned.tick({
      capacityTokens: this.#shape.capacityTokens,
      evictsInWhole: this.#routed.replica.adapter.evictsInWhole,
    })
    this.#planned = this.#ids
    for (const [turn, sent] of worlds.turns) this.#gain.plannedTurns.remember(turn, sent)
    for (const [i, id] of this.#ids.entries()) planned.sent(id, worlds.planned[i]!)
  }

  /** Returns the tokens of both worlds; undefined if the engine does not return them. */
  async #askOther(
    asked: Promise<readonly AskedPrompt[] | undefined>,
    worlds: TwoWorlds,
    { request, body, received }: OtherQuestion,
  ): Promise<readonly ComparedPrompt[] | undefined> {
    // the prediction for the request itself waits for the first of the two
    const sent = await asked
    if (!sent) return undefined
    const splices = worlds.areEqual ? undefined : worlds.otherSplices()
    const question = {
      api: this.#call.api,
      path: request.path,
      headers: request.headers,
      body: splices && received.prompt ? writeBody(received.prompt, splices) : body,
    }
    const unsent = worlds.areEqual ? sent : await this.#routed.replica.tokens!.tokensOf(question, false)
    if (sent.length !== unsent?.length) return undefined
    return sent.map(({ tokens: own, scope }, i) => ({ sent: own, other: unsent[i]!.tokens, scope, isExact: true }))
  }
}

function estimate(worlds: TwoWorlds, scope: string): ComparedPrompt[] {
  return worlds.compare().map(({ sent, other }) => {
    const standIns = toStandIns(sent)
    return { sent: standIns, other: sent === other ? standIns : toStandIns(other), scope, isExact: false }
  })
}

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function', 'documents'])

/**
 * Names the kind of template that a prompt was made by: who speaks in it (the first three turns, if there are more than
 * four) and whether blocks were found.
 */
function shapeOf(set: PromptSet | undefined, blocks: number): string {
  const spoken = (set?.prompts[0]?.messages ?? []).map(({ role }) => (roles.has(role) ? role : 'other'))
  const words = spoken.filter((role, i) => role !== spoken[i - 1])
  const told = words.length > 4 ? [...words.slice(0, 3), '…'] : words
  return `${told.join(', ') || 'nothing read'}: ${blocks > 0 ? 'blocks found' : 'no blocks'}`
}
