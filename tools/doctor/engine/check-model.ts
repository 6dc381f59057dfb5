import type { Finding } from '../finding.ts'
import type { ServedModel } from './check-reachable.ts'

/** Chooses the model to check with: the one that was named, or the first. */
export function selectModel(
  models: readonly ServedModel[],
  named: string | undefined,
): { finding: Finding; model: ServedModel | undefined } {
  const model = named === undefined ? models[0] : models.find(({ id }) => id === named)
  if (model) {
    const others = models.length > 1 ? `, of ${models.length}${named === undefined ? '; choose with --model' : ''}` : ''
    return { finding: { check: 'model', level: 'ok', found: `${model.id}${others}` }, model }
  }
  const finding = { check: 'model', level: 'fatal' } as const
  if (models.length === 0) {
    return { finding: { ...finding, found: 'no model is served', fix: 'start the engine with a model' }, model }
  }
  const served = models.slice(0, 5).map(({ id }) => id)
  const fix = `choose of ${served.join(', ')}${models.length > served.length ? ', …' : ''}`
  return { finding: { ...finding, found: `'${named}' is not served`, fix }, model }
}

/** Maximum tokens of prompt and answer together; undefined if the engine does not say. */
export function contextLengthOf({ max_model_len }: ServedModel): number | undefined {
  return typeof max_model_len === 'number' && max_model_len > 0 ? max_model_len : undefined
}

/** With fewer tokens than this, a few retrieved documents do not fit. */
const shortContext = 4096

/** Judges whether a context of several documents can be sent at all. */
export function judgeContextLength(tokens: number | undefined): Finding {
  const finding = { check: 'context_length' }
  if (tokens === undefined) return { ...finding, level: 'not_checked', found: 'the engine does not say' }
  const found = `${tokens.toLocaleString('en-US')} tokens`
  if (tokens >= shortContext) return { ...finding, level: 'ok', found }
  return {
    ...finding,
    level: 'warning',
    found,
    fix: 'raise --max-model-len (SGLang: --context-length): documents need room',
  }
}
