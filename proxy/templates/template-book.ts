import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { countEach } from '#index/group-by.ts'
import type { Mode } from '../common/request-options.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { ListPlace, TemplateUse } from '../prompt/body/template-use.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import { nameTemplate } from './find-list-place.ts'
import { KnownCuts, KnownEnds } from './known-cuts.ts'
import type { ProofSample } from './proof/proof.ts'
import { mayMove, type Said, type SeenList, Template, type TemplateState } from './template.ts'

/** All templates, and those of one tenant: some 100 KB each at most. */
const mostTemplates = 512
const mostOfTenant = 128
/** What people said outlives what was learnt. */
const mostSaid = 4_096

/** What a person said and when, in milliseconds since 1970; null: it was taken back. */
export type TimedSaid = readonly [Said | null, number]

/** A list, and the words of its request that ask about it. */
interface UsedList extends Pick<PromptContext, 'positional' | 'certain' | 'contents'> {
  readonly question: string
}

interface BookOptions {
  /** milliseconds, monotonic */
  readonly now: () => number
  /** milliseconds since 1970 */
  readonly wallClock: () => number
  /** whether words of prompts may be kept, also those of one request alone */
  readonly keepsWords: () => boolean
}

/**
 * The templates of all tenants: what is known about lists that stand at the same place of prompts alike. Bounded; what
 * was used least recently is forgotten first.
 */
export class TemplateBook {
  readonly #options: BookOptions
  readonly #templates = new LRUCache<string, Template>({ max: mostTemplates })
  readonly #cuts = new KnownCuts()
  readonly #ends = new KnownEnds()
  readonly #forgotten = new Set<string>()
  readonly #said = new LRUCache<string, TimedSaid>({ max: mostSaid })

  constructor(options: BookOptions) {
    this.#options = options
  }

  /**
   * Names the template of a list, and says whether the list may be moved, and whether the model is asked about it: a draw
   * by its question and its contents. Changes nothing.
   */
  use(
    tenant: string,
    mode: Mode,
    place: ListPlace,
    { positional, certain, contents, question }: UsedList,
  ): Pick<TemplateUse, 'id' | 'place' | 'mayMove' | 'question' | 'isSample'> {
    const id = nameTemplate(tenant, place)
    const known = this.#templates.peek(id)
    const state = this.stateOf(id)
    const isNamedLater = mode !== 'on' && positional && known?.goesOn === true
    const share = mode === 'auto' && this.said(id) === undefined ? (known?.sampleShare ?? 0) : 0
    const isSample = share > 0 && draw(question, contents) < share
    return { id, place, question, isSample, mayMove: mayMove(mode, state, certain?.by) && !isNamedLater }
  }

  /** Where a template stands; `learning` for one that is not known. */
  stateOf(id: string): TemplateState {
    return this.said(id) ?? this.#templates.peek(id)?.evidence ?? 'learning'
  }

  /** Learns what one request shows of a template. */
  note(tenant: string, { id, place }: Pick<TemplateUse, 'id' | 'place'>, list: SeenList): void {
    const template = this.#templates.get(id) ?? this.#add(new Template(tenant, id))
    template.note(list, place, { now: this.#options.now(), keepsWords: this.#options.keepsWords() })
  }

  /** Learns that a conversation with a list of the template went on. */
  noteFollowed(id: string): void {
    const template = this.#templates.peek(id)
    if (template) template.followed += 1
  }

  /** The cuts of known templates in requests of a tenant to an API. */
  cutsOf(tenant: string, api: string): KnownTemplates {
    const scope = `${api} ${tenant}`
    return {
      cut: (message, whole) => this.#cuts.cut(scope, message, whole),
      isSkipped: (message, whole) => this.#cuts.isSkipped(scope, message, whole),
      isConstant: (words) => this.#ends.isConstant(scope, words),
      noteWords: (words, last) => this.#ends.note(scope, words, last),
      learn: (message, whole, lists, judged) => this.#cuts.learn(scope, message, whole, lists, judged),
    }
  }

  /** Learns how likely an answer was. */
  noteProof(id: string, sample: ProofSample): void {
    this.#templates.peek(id)?.proof.add(sample)
  }

  get(id: string): Template | undefined {
    return this.#templates.peek(id)
  }

  /** How many templates stand where. */
  get states(): Map<TemplateState, number> {
    return countEach(this.all.map(({ id }) => this.stateOf(id)))
  }

  /** The templates, most recently used first. */
  get all(): Template[] {
    return [...this.#templates.values()]
  }

  /** What a person said of a template; undefined: nothing. */
  said(id: string): Said | undefined {
    return this.#said.peek(id)?.[0] ?? undefined
  }

  /** Notes what a person says of a template; null: it is taken back. Returns false if it is not known. */
  say(id: string, said: Said | null): boolean {
    if (!this.#templates.has(id) && this.said(id) === undefined) return false
    // later than what was said before
    this.adoptSaid(id, [said, Math.max(this.#options.wallClock(), (this.#said.peek(id)?.[1] ?? 0) + 1)])
    return true
  }

  /** Forgets a template: its evidence, and what was said of it. Returns false if it is not known. */
  forget(id: string): boolean {
    return this.say(id, null)
  }

  /** What people said of all templates, for other proxies. */
  get allSaid(): Record<string, TimedSaid> {
    return Object.fromEntries([...this.#said.entries()].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Takes over what a person said to another proxy, if it is newer. */
  adoptSaid(id: string, told: TimedSaid): void {
    if (told[1] <= (this.#said.peek(id)?.[1] ?? Number.NEGATIVE_INFINITY)) return
    this.#said.set(id, told)
    if (told[0] !== null) return
    this.#templates.delete(id)
    this.#forgotten.add(id)
  }

  /** Returns the templates that were forgotten since the last call. */
  takeForgotten(): string[] {
    const forgotten = [...this.#forgotten]
    this.#forgotten.clear()
    return forgotten
  }

  /** Takes over what another proxy, or this one before it was restarted, knows of a template, if that is more. */
  adopt(template: Template): void {
    const known = this.#templates.peek(template.id)
    if (known !== undefined && known.requests >= template.requests) return
    template.lastSeen = known?.lastSeen
    this.#add(template)
  }

  /** Takes over what was seen of a template before it was known, if that is more and neither model nor users have told. */
  adoptSeen(template: Template): void {
    const known = this.#templates.peek(template.id)
    if (known === undefined || (known.proof.figures.samples === 0 && known.followed === 0)) this.adopt(template)
  }

  #add(template: Template): Template {
    const others = this.all.filter(({ id, tenant }) => tenant === template.tenant && id !== template.id)
    if (others.length >= mostOfTenant) this.#templates.delete(others.at(-1)!.id)
    this.#templates.set(template.id, template)
    return template
  }
}

/** Characters of a long question that are drawn by, its last ones. */
const longestDrawn = 1_000

/** Returns a number from 0 up to 1, the same for the same request: no rhythm of traffic meets it. */
function draw(question: string, contents: readonly string[]): number {
  const drawn = Buffer.from(digestOf(`${question.slice(-longestDrawn)}\0${contents.join()}`), 'base64url')
  return drawn.readUInt32LE() / 2 ** 32
}
