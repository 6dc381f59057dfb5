import { ProxyError } from '../../common/errors.ts'
import type { ModelLists } from '../../replicas/model-lists.ts'
import type { ReplicaChoice, ReplicaSet } from '../../replicas/replica-set.ts'

/** What the choice by model needs of the pipeline. */
export interface ModelChoice {
  readonly replicas: ReplicaSet
  readonly modelLists: Pick<ModelLists, 'askNow'>
}

/** An error names no more than this of a client's words, and of the models. */
const longestName = 200
const mostNamed = 10

/**
 * Returns the replicas that a request for this model may go to. A model that none is known to serve may have been
 * loaded since they were asked: they are asked again. Throws `model_not_found` if none serves it.
 */
export async function chooseReplicas({ replicas, modelLists }: ModelChoice, model: string): Promise<ReplicaChoice> {
  const known = replicas.serving(model)
  if (known) return known
  await modelLists.askNow()
  const choice = replicas.serving(model)
  if (choice) return choice
  const names = replicas.models.entries.map(({ id }) => id as string)
  const listed = names.slice(0, mostNamed).join(', ') + (names.length > mostNamed ? ', …' : '')
  throw new ProxyError(
    'model_not_found',
    `The model '${model.slice(0, longestName)}' is not served here: name one that GET /v1/models lists (${listed}).`,
  )
}
