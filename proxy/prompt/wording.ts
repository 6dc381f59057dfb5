import {
  defaultLocationAnnotation,
  defaultOrderAnnotation,
  defaultValuesAnnotation,
} from '#index/dedup/annotate-context.ts'

/** The words that are put into prompts; all but those of a block are configurable. */
export interface Wording {
  /** the order annotation, with `{order}` */
  readonly order: string
  /** states the values of fields that were cut out of blocks, with `{values}` */
  readonly volatile: string
  /** the location annotation, with `{label}` */
  readonly location: string
  /** how an explicit block is written in the prompt, with `{k}` and `{text}` */
  readonly block: string
}

/** The wording that docs/contract.md promises. */
export const defaultWording: Wording = {
  order: defaultOrderAnnotation,
  volatile: defaultValuesAnnotation,
  location: defaultLocationAnnotation,
  block: '[Doc_{k}] {text}',
}
