import { setTimeout as pause } from 'node:timers/promises'
import { askEngine } from '#engine-adapters/ask-engine.ts'
import { type Json, tryJson } from '#engine-adapters/json-object.ts'
import type { AnswerScores, AskScores } from '#engine-adapters/scoring/scored-prompt.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { cacheSaltOf } from '../../access/tenancy.ts'
import { type Call, type RoutedCall, toDecisionInput } from '../../call/call.ts'
import type { TripFollower } from '../../call/trip.ts'
import type { Log } from '../../common/log.ts'
import type { Replica } from '../../replicas/replica.ts'
import { idleCheckMilliseconds, withoutClients } from '../../replicas/without-clients.ts'
import type { Decision } from '../../reuse/decision.ts'
import type { ProofSample } from '../../templates/proof/proof.ts'
import type { TemplateBook } from '../../templates/template-book.ts'
import { type FollowedAnswer, followAnswer } from './answer-follower.ts'
import { type PromptVariants, writeVariants } from './write-variants.ts'

/** How a sample ended. `interrupted`: clients needed the engine. */
type SampleOutcome = 'scored' | 'unscored' | 'interrupted'

interface ProverOptions {
  readonly templates: TemplateBook
  readonly createIndex: CacheMirror['createIndex']
  readonly onSample: (outcome: SampleOutcome) => void
  readonly log: Log
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** A request whose answer is to be scored. */
interface Sample extends FollowedAnswer {
  readonly template: string
  /** its list's, as sent; undefined: as received */
  readonly order: readonly number[] | undefined
  readonly call: Call
  readonly replica: Replica
  readonly body: Buffer
  /** what is scored; undefined until it is first written */
  variants: PromptVariants | undefined
  /** what was scored before it was interrupted */
  readonly scores: { -readonly [variant in keyof ProofSample]?: ProofSample[variant] | undefined }
  /** how often it was interrupted */
  tries: number
}

/** Few, since their bodies are kept. */
const mostWaiting = 4
/** A sample that clients interrupt is tried again, but not for ever. */
const mostTries = 10
const longestBody = 512 * 1024
/** How long a sample waits for its engine to be idle. */
const longestWaitMilliseconds = 120_000
/** Of the time in which an engine is idle, at most this share is taken. */
const longestShare = 0.2

/**
 * Proves by likelihood that the order of a template's lists means nothing to the model (docs/templates.md). The answer
 * that it gave to a prompt is scored under the prompt with the list in another order. This happens
 * afterwards, one sample at a time, while the engine is idle. A client's request interrupts it and never waits for it.
 */
export class Prover {
  readonly #options: ProverOptions
  readonly #closing = new AbortController()
  readonly #samples: Sample[] = []
  #following = 0
  #isRunning = false

  constructor(options: ProverOptions) {
    this.#options = options
  }

  /** Returns what follows the answer to a request, if it is to be scored. */
  follow(call: Call, { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>): TripFollower | undefined {
    if (call.settings.mode !== 'auto' || replica.adapter.scoreAnswer === undefined) return undefined
    const { body, received } = call.content
    if (body.length > longestBody || received.whole || this.#samples.length + this.#following >= mostWaiting) return
    const { templates } = this.#options
    const list = findSample(decision, (id) => templates.get(id)?.proof.figures.samples ?? 0)
    if (list === undefined) return undefined
    this.#following += 1
    return followAnswer(call.api, (followed) => {
      this.#following -= 1
      if (!followed) return
      this.#samples.push({ ...list, call, replica, body, variants: undefined, scores: {}, tries: 0, ...followed })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Stops what is running. */
  close(): void {
    this.#closing.abort()
    this.#samples.length = 0
  }

  async #run(): Promise<void> {
    const { onSample, log, now } = this.#options
    this.#isRunning = true
    for (let sample = this.#samples.shift(); sample !== undefined; sample = this.#samples.shift()) {
      const begun = now()
      try {
        const outcome = await this.#score(sample)
        onSample(outcome)
        // what was scored before is kept, so that an engine with short pauses is asked, too
        if (outcome === 'interrupted' && ++sample.tries < mostTries && !this.#closing.signal.aborted) {
          this.#samples.push(sample)
        }
      } catch (error) {
        onSample('unscored')
        log.error({ error }, 'an answer could not be scored because of a fault of ours')
      }
      const rest = (now() - begun) * (1 / longestShare - 1)
      await pause(rest, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {})
    }
    this.#isRunning = false
  }

  async #score(sample: Sample): Promise<SampleOutcome> {
    if (!(await this.#waitUntilIdle(sample.replica))) return 'interrupted'
    sample.variants ??= this.#write(sample)
    const { variants } = sample
    if (variants === undefined) return 'unscored'
    const scored = await withoutClients(sample.replica, this.#closing.signal, (signal) => {
      return scoreVariants(sample, variants, signal)
    })
    if (scored === 'interrupted' || scored === undefined) return scored ?? 'unscored'
    this.#options.templates.noteProof(sample.template, scored)
    return 'scored'
  }

  async #waitUntilIdle(replica: Replica): Promise<boolean> {
    const { now } = this.#options
    const { signal } = this.#closing
    const until = now() + longestWaitMilliseconds
    while (replica.requests > 0 && !signal.aborted && now() < until) {
      await pause(idleCheckMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
    return replica.requests === 0 && !signal.aborted
  }

  #write({ call, body, template, order, replica }: Sample): PromptVariants | undefined {
    const { permit, ...input } = toDecisionInput(call)
    const { templates, createIndex } = this.#options
    const turn = templates.get(template)?.proof.figures.samples ?? 0
    if (!permit) return undefined
    const variants = writeVariants(call.api, body, template, { ...input, permit }, { createIndex, turn, order })
    if (!variants) return undefined
    const { settings, caller } = call
    const members = call.content.members
    const salt = cacheSaltOf(caller.tenant, members.cache_salt, settings.tenants.salt_secret)
    const { cache_salt } = replica.adapter.tagRequest('' as never, salt, members).members
    if (cache_salt === undefined) return variants
    const [sent, rewritten, harmless] = [variants.sent, variants.rewritten, variants.harmless].map(
      (own): Json => ({ ...own, cache_salt }),
    ) as [Json, Json, Json]
    return { ...variants, sent, rewritten, harmless }
  }
}

/**
 * Finds a list whose answer is to be scored, of several the one whose template has been asked about the least: nothing
 * else of its prompt was changed, and no block left out.
 */
function findSample(
  { splices, isRewritten, sent, contexts, deduplicated }: Decision,
  samplesOf: (template: string) => number,
): Pick<Sample, 'template' | 'order'> | undefined {
  if (sent.length !== 1 || deduplicated > 0 || (splices !== undefined && !isRewritten)) return undefined
  const [sample] = contexts
    .flatMap(({ found: { template, isSpokenOf = false }, order }) => {
      return template?.isSample && !template.isPast && !isSpokenOf ? [{ template: template.id, order }] : []
    })
    .sort((one, other) => samplesOf(one.template) - samplesOf(other.template))
  // where nothing is rewritten, orders are only what would be sent
  if (sample === undefined || !isRewritten) return sample && { ...sample, order: undefined }
  // the variants write all lists of a template in one order
  const isAlone = contexts.every(({ found, order }) => {
    return order === sample.order || (found.template?.id !== sample.template && order.every((from, i) => from === i))
  })
  return isAlone ? sample : undefined
}

/** Scores the variants that were not scored before. */
async function scoreVariants(
  { call: { api }, replica, headers, answer, promptTokens, scores }: Sample,
  { sent, rewritten, harmless, toRewritten }: PromptVariants,
  signal: AbortSignal,
): Promise<ProofSample | undefined> {
  const ask: AskScores = async ({ path, body }) => {
    const answered = await askEngine(replica.engine.aside, { path, json: JSON.stringify(body), headers }, signal)
    if (answered?.status !== 200) return undefined
    return tryJson(answered.text)
  }
  const score = (members: PromptVariants['sent'], own: string): Promise<AnswerScores> => {
    return replica.adapter.scoreAnswer!({ api, members, answer: own, promptTokens }, ask)
  }
  scores.sent ??= await score(sent, answer)
  scores.harmless ??= scores.sent && (await score(harmless, answer))
  scores.rewritten ??= scores.harmless && (await score(rewritten, toRewritten(answer)))
  const { sent: asSent, harmless: asHarmless, rewritten: asRewritten } = scores
  if (!asSent || !asHarmless || !asRewritten) return undefined
  return { sent: asSent, harmless: asHarmless, rewritten: asRewritten }
}
