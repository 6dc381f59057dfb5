import { type Finding, fatal, notChecked, ok, warning } from '../finding.ts'
import type { ServedModel } from './check-reachable.ts'

/** Chooses the model to check with: the one that was named, or the first. */
export function selectModel(
  models: readonly ServedModel[],
  named: string | undefined,
): { finding: Finding; model: ServedModel | undefined } {
  const model = named === undefined ? models[0] : models.find(({ id }) => id === named)
  if (model) {
    const others = models.length > 1 ? `, of ${models.length}${named === undefined ? '; choose with --model' : ''}` : ''
    return { finding: ok('model', `${model.id}${others}`), model }
  }
  if (models.length === 0)
    return { finding: fatal('model', 'no model is served', 'start the engine with a model'), model }
  const served = models.slice(0, 5).map(({ id }) => id)
  const fix = `choose of ${served.join(', ')}${models.length > served.length ? ', …' : ''}`
  return { finding: fatal('model', `'${named}' is not served`, fix), model }
}

/** Maximum tokens of prompt and answer together; undefined if the engine does not say. */
export function contextLengthOf({ max_model_len }: ServedModel): number | undefined {
  return typeof max_model_len === 'number' && max_model_len > 0 ? max_model_len : undefined
}

/** With fewer tokens than this, a few retrieved documents do not fit. */
const shortContext = 4096

/** Judges whether a context of several documents can be sent at all. */
export function judgeContextLength(tokens: number | undefined): Finding {
  if (tokens === undefined) return notChecked('context_length', 'the engine does not say')
  const found = `${tokens.toLocaleString('en-US')} tokens`
  if (tokens >= shortContext) return ok('context_length', found)
  return warning('context_length', found, 'raise --max-model-len (SGLang: --context-length): documents need room')
}
