import type { LabelForm } from '../../answer/citations/citation-labels.ts'
import type { PromptContext } from '../body/prompt-context.ts'
import type { JudgedList } from './judge-words.ts'
import { ownWords } from './own-marks.ts'

/** Returns what words are judged for: a list whose blocks a model may call by `labels`, written in `form`. */
export function toJudgedList(
  context: PromptContext,
  texts: readonly string[],
  { form, labels, isSet }: { form: LabelForm | undefined; labels: readonly string[]; isSet: boolean },
): JudgedList {
  return {
    ...form,
    blocks: context.slots.length,
    labels,
    prefix: context.labelPrefix,
    isPositional: context.positional,
    isLabelled: context.slots.some(({ label }) => label),
    ownWords: () => ownWords(context, texts),
    isSet,
  }
}
