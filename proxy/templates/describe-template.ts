import type { Mode } from '../common/request-options.ts'
import { mayMove, type Template, type TemplateState } from './template.ts'
import type { TemplateBook } from './template-book.ts'

/** Requests that a template needs before it is worth a line: many prompts begin with words of their own. */
const fewestShown = 3

/** A template as the control plane reports it (docs/templates.md). */
export interface TemplateDescription
  extends Pick<Template, 'id' | 'tenant' | 'requests' | 'blocks' | 'moved' | 'followed'> {
  readonly state: TemplateState
  /** whether lists of the template are moved now */
  readonly moves: boolean
  /** what the state means, and what would change it */
  readonly meaning: string
  readonly found_by: string
  /** constant text around its lists; null: not known to be constant yet, and words are not kept */
  readonly skeleton: object | null
  readonly last_seen_seconds_ago: number | null
  readonly traffic: object
  readonly proof: object
  readonly gain: Template['gain']['shares']
}

const meanings: Readonly<Record<TemplateState, string>> = {
  learning: 'Too few requests have brought the same blocks again, or shown that the list is ranked for the question.',
  sequence: 'The blocks never change their order, so the order may mean something. `on` moves them anyway.',
  torn: 'Neighbouring blocks never part: they may be pieces of one text. `on` moves them anyway.',
  ready: 'Traffic permits moves. In mode `auto` the model is asked next; `on` confirms it at once.',
  refuted: "The model's answers depend on the order. `on` moves the blocks anyway.",
  proved: 'Words, traffic and the model permit moves.',
  on: 'A person permits moves.',
  off: 'A person forbids moves.',
}

/** Describes the templates that were seen often enough, most recently used first. */
export function describeTemplates(book: TemplateBook, mode: Mode, now: number): TemplateDescription[] {
  const shown = book.all.filter(({ id, requests }) => requests >= fewestShown || book.said(id) !== undefined)
  return shown.map((template) => describeTemplate(book, template, mode, now))
}

export function describeTemplate(book: TemplateBook, template: Template, mode: Mode, now: number): TemplateDescription {
  const { id, tenant, place, foundBy, requests, blocks, moved, followed, lastSeen, traffic, proof, gain } = template
  const state = book.stateOf(id)
  return {
    id,
    tenant,
    state,
    moves: mayMove(mode, state, foundBy) && mode !== 'shadow',
    meaning: meanings[state],
    found_by: foundBy,
    skeleton: place ?? null,
    requests,
    blocks,
    moved,
    followed,
    last_seen_seconds_ago: lastSeen === undefined ? null : Math.round((now - lastSeen) / 1000),
    traffic: { verdict: traffic.verdict, ...traffic.figures },
    proof: { verdict: proof.verdict, ...proof.figures },
    gain: gain.shares,
  }
}
