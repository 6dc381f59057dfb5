import { toContext } from '../../prompt/body/prompt-context.ts'
import type { ListPlace } from '../../prompt/body/template-use.ts'
import { questionOf } from '../../prompt/places/words-outside.ts'
import { findListPlace, nameTemplate } from '../find-list-place.ts'
import { toSighting } from '../note-lists.ts'
import { TrafficEvidence } from '../traffic/traffic-evidence.ts'
import { cutLearntList } from './cut-learnt-list.ts'
import type { LearntTemplate } from './learnt-template.ts'
import { readPlace } from './text-keys.ts'

/** A text of a request in which nothing was found, and what is beside it. */
export interface UnknownText {
  readonly text: string
  /** As in `ListPlace`. */
  readonly model: string
  /** How the system prompt begins, as in `ListPlace`. */
  readonly system: string
  /** What the user asks, if that is another message. */
  readonly asked: string | undefined
}

/** Returns how much is kept of a text, in UTF-16 units. */
export function lengthOf({ text, asked = '' }: UnknownText): number {
  return text.length + asked.length
}

/** What the lists of a template have shown before its borders were known. */
export interface SeenLists {
  readonly tenant: string
  readonly id: string
  readonly place: ListPlace
  readonly lists: number
  readonly blocks: number
  /** As `TrafficEvidence.toRecord` returns it. */
  readonly traffic: unknown
}

/**
 * Cuts the texts that a template was learnt from, which were sent as received, and returns what their lists show, as if
 * they had been found when they came.
 */
export function seeLists(template: LearntTemplate, texts: readonly UnknownText[]): SeenLists[] {
  const seen = new Map<string, SeenLists & { readonly traffic: TrafficEvidence }>()
  const sender = readPlace(template.key)
  for (const { text, model, system, asked } of sender ? texts : []) {
    const list = cutLearntList(text, template)
    if (list === undefined) continue
    const { tenant, api, ...spoken } = sender!
    const context = toContext(list, text, () => ({ text: 0, start: 0, end: text.length }))
    const message = { ...spoken, texts: [0] }
    const place = findListPlace(context, message, [text], { api, model, system })
    const id = nameTemplate(tenant, place)
    const { lists, blocks, traffic } = seen.get(id) ?? { lists: 0, blocks: 0, traffic: new TrafficEvidence() }
    traffic.note(toSighting(context, [text], asked ?? questionOf({ message, contexts: [context] }, [text])))
    seen.set(id, { tenant, id, place, lists: lists + 1, blocks: blocks + list.blocks.length, traffic })
  }
  return [...seen.values()].map((own) => ({ ...own, traffic: own.traffic.toRecord() }))
}
