import type { RequestOptions } from '#proxy/common/request-options.ts'

/** One way in which all requests of a trace are sent. */
export interface Pass {
  readonly name: PassName
  /** undefined: nothing is changed, and requests go straight to the engine if it can read them */
  readonly options: Pick<Required<RequestOptions>, 'reorder' | 'annotate' | 'dedup'> | undefined
  readonly says: string
}

export const passNames = ['received', 'again', 'rewritten', 'order', 'annotation', 'dedup'] as const
export type PassName = (typeof passNames)[number]

/** In the order they are run; all others are compared with the first. */
export const passes: readonly Pass[] = [
  { name: 'received', options: undefined, says: 'as received' },
  { name: 'again', options: undefined, says: 'as received, once more: the noise floor' },
  {
    name: 'rewritten',
    options: { reorder: true, annotate: true, dedup: true },
    says: 'order, annotation and de-duplication',
  },
  { name: 'order', options: { reorder: true, annotate: false, dedup: false }, says: 'the order alone' },
  {
    name: 'annotation',
    options: { reorder: true, annotate: true, dedup: false },
    says: 'the order, and the annotation that tells of it',
  },
  { name: 'dedup', options: { reorder: false, annotate: false, dedup: true }, says: 'de-duplication alone' },
]
