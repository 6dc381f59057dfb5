import { defaultLocationAnnotation, defaultOrderAnnotation } from '#index/dedup/annotate-context.ts'

/** The words that are put into prompts. */
export interface Wording {
  /** the order annotation, with `{order}` */
  readonly order: string
  /** the location annotation, with `{label}` */
  readonly location: string
}

/** The wording that docs/contract.md promises. */
export const defaultWording: Wording = {
  order: defaultOrderAnnotation,
  location: defaultLocationAnnotation,
}
