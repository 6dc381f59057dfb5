import { defaultLocationAnnotation, defaultOrderAnnotation } from '#index/dedup/annotate-context.ts'

/** The words that are put into prompts; all but those of a block are configurable. */
export interface Wording {
  /** the order annotation, with `{order}` */
  readonly order: string
  /** the location annotation, with `{label}` */
  readonly location: string
  /** how an explicit block is written in the prompt, with `{k}` and `{text}` */
  readonly block: string
}

/** The wording that docs/contract.md promises. */
export const defaultWording: Wording = {
  order: defaultOrderAnnotation,
  location: defaultLocationAnnotation,
  block: '[Doc_{k}] {text}',
}
