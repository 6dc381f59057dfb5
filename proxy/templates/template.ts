import type { Mode } from '../common/request-options.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'
import { Proof } from './proof/proof.ts'
import { type GainedList, TemplateGain } from './template-gain.ts'
import { type Sighting, TrafficEvidence } from './traffic/traffic-evidence.ts'

/** What a person said of a template. */
export type Said = 'on' | 'off'

/**
 * Where a template stands. `learning`: too little traffic to judge; `sequence`: its lists have an order of their own;
 * `torn`: what was taken for blocks are pieces of texts; `ready`: traffic permits moves, the model was not asked or has
 * not answered enough; `refuted`: the model's answers depend on the order; `proved`: words, traffic and the model
 * permit moves; `on` and `off`: a person said so.
 */
export type TemplateState = 'learning' | 'sequence' | 'torn' | 'ready' | 'refuted' | 'proved' | Said

/** One list of a request, as it was received and sent. */
export interface SeenList extends Sighting, GainedList {
  /** who found its borders */
  readonly foundBy: string
  /** key of the learnt template that found them */
  readonly learntKey?: string | undefined
  readonly moved: number
}

/** A list's places are numbers in later turns, too, once so many conversations of a template have gone on. */
const fewestFollowed = 4
const followedShare = 0.25

/** Answers that are scored, all until there are so many: before traffic permits moves; while the model has not decided; later. */
const sampled = { ahead: 24, undecided: 64, decided: 32, share: 1 / 64 } as const

/** Of so many requests, the first ones tell what moving gains. */
const gainEvery = 4_096
const gainWindow = 256

/** Constant text is what so many requests had in common; before, it may be one user's words. */
export const fewestForWords = 8

/** Where traffic permits moves, the model does not forbid them, or a person permits them. */
const permittedStates: ReadonlySet<TemplateState> = new Set(['ready', 'proved', 'on'])

/** What is known about the lists of one template of one tenant. Holds hashes and counts; words only as `place` says. */
export class Template {
  readonly id: string
  readonly tenant: string
  /** constant text around its lists; undefined until it is known to be constant, unless words may be kept */
  place: ListPlace | undefined
  foundBy = 'rules'
  /** key of what was learnt of its borders */
  learntKey: string | undefined
  requests = 0
  /** of these, requests that came before its borders were known: whether their conversations went on is not */
  seenAhead = 0
  blocks = 0
  moved = 0
  /** requests whose history holds a list of the template */
  followed = 0
  /** milliseconds, monotonic; undefined: it was not seen here, but by another proxy, or before it was known */
  lastSeen: number | undefined
  traffic: TrafficEvidence = new TrafficEvidence()
  proof: Proof = new Proof()
  readonly gain: TemplateGain = new TemplateGain()

  constructor(tenant: string, id: string) {
    this.tenant = tenant
    this.id = id
  }

  note(list: SeenList, place: ListPlace, { now, keepsWords }: { now: number; keepsWords: boolean }): void {
    this.requests += 1
    this.blocks += list.blocks.length
    this.moved += list.moved
    this.foundBy = list.foundBy
    this.learntKey = list.learntKey
    this.lastSeen = now
    if (keepsWords || this.requests >= fewestForWords) this.place = place
    this.traffic.note(list)
    // in windows that are long enough for documents to come again, since ordering each list again takes time
    if ((this.requests - 1) % gainEvery < gainWindow) this.gain.note(list)
  }

  /** Whether people go on to speak about its lists, by numbers that nobody maps. */
  get goesOn(): boolean {
    return this.followed >= fewestFollowed && this.followed >= followedShare * (this.requests - this.seenAhead)
  }

  /**
   * The share of its requests about which the model is asked. While traffic is being judged: all, until nothing waits for
   * the model afterwards. Then: all until enough have told, and always some, since models and prompts change.
   */
  get sampleShare(): number {
    const { evidence, traffic, proof } = this
    const { samples } = proof.figures
    if (evidence === 'learning') return traffic.isPromising && samples < sampled.ahead ? 1 : 0
    if (evidence === 'ready') return Math.min(1, sampled.undecided / samples)
    return traffic.verdict === 'set' ? Math.max(sampled.share, Math.min(1, (sampled.decided / samples) ** 2)) : 0
  }

  /** Where it stands by evidence alone. */
  get evidence(): Exclude<TemplateState, Said> {
    const { verdict } = this.traffic
    if (verdict === 'unknown') return 'learning'
    if (verdict !== 'set') return verdict
    return this.proof.verdict === 'undecided' ? 'ready' : this.proof.verdict
  }
}

/**
 * Whether lists of a template may be moved in a mode, given its state and who found their borders. No word of the request
 * forbids it. That a list is a set, marks say in mode `on`; borders that were learnt say nothing.
 */
export function mayMove(mode: Mode, state: TemplateState, foundBy = 'rules'): boolean {
  if (state === 'off' || mode === 'off') return false
  if (mode === 'on' || mode === 'shadow') return foundBy !== 'learnt' || permittedStates.has(state)
  return state === 'on' || (mode === 'auto' && state === 'proved')
}
