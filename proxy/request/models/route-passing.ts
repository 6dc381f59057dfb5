import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../call/call.ts'
import type { Reading } from '../../call/read-call.ts'
import { readBody } from '../../http/read-body.ts'
import { readModelName } from '../../http/receive/model-name.ts'
import type { ReplicaChoice } from '../../replicas/replica-set.ts'
import { chooseReplicas, type ModelChoice } from './choose-replicas.ts'

type Routing = ModelChoice & Pick<Reading, 'settings' | 'bodyMemory' | 'heavyTurns'>

/** Where a request that passes through may go. */
interface PassingRoute {
  readonly replicas: ReplicaChoice
  /** its body, if it was read to find its model; undefined: it has not been read */
  readonly body: Buffer | undefined
  /** Gives back the memory taken for the body. */
  release(): void
}

/** JSON is often sent under the names that clients give to what they do not know. */
const namesModels =
  /^(application\/([\w.+-]*\+)?json|application\/x-www-form-urlencoded|text\/plain|multipart\/form-data)\b/i

/**
 * Finds the replicas for a request that passes through, by the model in its body, or else in its query. Its body is read
 * only if engines serve different models, or names stand for others. A request that names no model goes to the
 * engines that serve the first one's. Throws `model_not_found`, and what reading a body throws.
 */
export async function routePassing(
  pipeline: Routing,
  { incoming, clientLeft }: Pick<Exchange, 'incoming' | 'clientLeft'>,
  tenant: string,
): Promise<PassingRoute> {
  const { replicas } = pipeline
  const { models } = replicas
  const release = (): void => {}
  if (!models.isNeeded && models.aliases.size === 0) return { replicas, body: undefined, release }
  // a query may hold further question marks
  const [, ...query] = incoming.url!.split('?')
  const asked = new URLSearchParams(query.join('?')).get('model') ?? undefined
  if (!hasReadableBody(incoming)) return { replicas: await choose(pipeline, asked), body: undefined, release }
  const share = pipeline.bodyMemory.begin(tenant)
  const turn = (): Promise<void> => pipeline.heavyTurns.take()
  const body = await readBody(incoming, { limit: pipeline.settings().limits.body_bytes, share, signal: clientLeft })
  try {
    const named = await readModelName(body, incoming.headers['content-type'], turn)
    const target = named && models.targetOf(named.name)
    return {
      replicas: await choose(pipeline, target ?? named?.name ?? asked),
      body: target === undefined ? body : named!.rename(target),
      release: () => share.release(),
    }
  } catch (error) {
    share.release()
    throw error
  }
}

async function choose(pipeline: ModelChoice, model: string | undefined): Promise<ReplicaChoice> {
  return model === undefined ? pipeline.replicas.serving(undefined)! : chooseReplicas(pipeline, model)
}

function hasReadableBody({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return hasBody && encoding === 'identity' && namesModels.test(headers['content-type']?.trim() ?? '')
}
