import type { Exchange } from '../../call/call.ts'
import type { ForwardOutcome } from '../../common/reasons.ts'
import { chooseReplicas, type ModelChoice } from './choose-replicas.ts'

const listPath = '/v1/models'

/** Whether a request is for a list that no single engine has: of what several serve, or of aliases. */
export function asksForModels(
  { replicas: { models } }: Pick<ModelChoice, 'replicas'>,
  { method, url = '' }: Exchange['incoming'],
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
  const body = Buffer.from(
    JSON.stringify(name === '' ? { object: 'list', data: models.entries } : (find() ?? { id: name, object: 'model' })),
  )
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  outgoing.end(body)
  return 'finished'
}
