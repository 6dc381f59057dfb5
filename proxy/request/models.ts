import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../call/call.ts'
import type { Reading } from '../call/read-call.ts'
import { ProxyError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import { readBody } from '../http/read-body.ts'
import { readModelName } from '../http/receive/model-name.ts'
import type { ModelLists } from '../replicas/model-lists.ts'
import type { ReplicaChoice, ReplicaSet } from '../replicas/replica-set.ts'

interface ModelChoice {
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
export async function chooseReplicas(
  { replicas, modelLists }: ModelChoice,
  model: string | undefined,
): Promise<ReplicaChoice> {
  const known = replicas.serving(model)
  if (known) return known
  await modelLists.askNow()
  const choice = replicas.serving(model)
  if (choice) return choice
  const names = replicas.models.entries.map(({ id }) => id as string)
  const listed = names.slice(0, mostNamed).join(', ') + (names.length > mostNamed ? ', …' : '')
  throw new ProxyError(
    'model_not_found',
    `The model '${model!.slice(0, longestName)}' is not served here: name one that GET /v1/models lists (${listed}).`,
  )
}

const listPath = '/v1/models'

/** Whether a request is for a list that no single engine has: of what several serve, or of aliases. */
export function asksForModels(
  { replicas: { models } }: Pick<ModelChoice, 'replicas'>,
  { method, url = '' }: IncomingMessage,
): boolean {
  if (method !== 'GET' || !url.startsWith(listPath)) return false
  return /^([/?]|$)/.test(url.slice(listPath.length)) && (models.isNeeded || models.aliases.size > 0)
}

/** Answers `GET /v1/models` with all that is served, and `GET /v1/models/NAME` with one of them. */
export async function listModels(
  pipeline: ModelChoice,
  { incoming, outgoing }: Pick<Exchange, 'incoming' | 'outgoing'>,
): Promise<ForwardOutcome> {
  const { models } = pipeline.replicas
  const [path = ''] = incoming.url!.split('?', 1)
  const name = path.slice(listPath.length).replace(/^\/|\/$/g, '')
  const find = (): object | undefined =>
    models.entries.find(({ id }) => id === name || encodeURIComponent(id as string) === name)
  if (name !== '' && !find()) await chooseReplicas(pipeline, name)
  const listed = name === '' ? { object: 'list', data: models.entries } : (find() ?? { id: name, object: 'model' })
  const body = Buffer.from(JSON.stringify(listed))
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  outgoing.end(body)
  return 'finished'
}

/** Where a request that passes through may go. */
export interface PassingRoute {
  readonly replicas: ReplicaChoice
  /** its body, if it was read to find its model; undefined: it has not been read */
  readonly body?: Buffer
  /** Gives back the memory taken for the body. */
  readonly release?: () => void
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
  pipeline: ModelChoice & Pick<Reading, 'settings' | 'bodyMemory' | 'heavyTurns'>,
  { incoming, clientLeft }: Pick<Exchange, 'incoming' | 'clientLeft'>,
  tenant: string,
): Promise<PassingRoute> {
  const { replicas } = pipeline
  const { models } = replicas
  if (!models.isNeeded && models.aliases.size === 0) return { replicas }
  // a query may hold further question marks
  const [, ...query] = incoming.url!.split('?')
  const asked = new URLSearchParams(query.join('?')).get('model') ?? undefined
  if (!hasReadableBody(incoming)) return { replicas: await chooseReplicas(pipeline, asked) }
  const share = pipeline.bodyMemory.begin(tenant)
  const limit = pipeline.settings().limits.body_bytes
  try {
    const body = await readBody(incoming, { limit, share, signal: clientLeft })
    const named = await readModelName(body, incoming.headers['content-type'], pipeline.heavyTurns)
    const target = named && models.targetOf(named.name)
    return {
      replicas: await chooseReplicas(pipeline, target ?? named?.name ?? asked),
      body: target === undefined ? body : named!.rename(target),
      release: () => share.release(),
    }
  } catch (error) {
    share.release()
    throw error
  }
}

function hasReadableBody({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return hasBody && encoding === 'identity' && namesModels.test(headers['content-type']?.trim() ?? '')
}
