import type { IncomingMessage } from 'node:http'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import type { Caller, Tenancy } from '../access/tenancy.ts'
import { CertainLists } from '../chunks/certain-lists.ts'
import type { KnownChunks } from '../chunks/known-chunks.ts'
import { type RequestOptions, readOptions, readPriority } from '../common/request-options.ts'
import type { Settings } from '../config/config.ts'
import type { BodyMemory, BodyShare } from '../http/bounds/body-memory.ts'
import type { HeavyTurns } from '../http/bounds/event-loop.ts'
import { readBody } from '../http/read-body.ts'
import { readModelName, tooLongName } from '../http/receive/model-name.ts'
import { readWithinLimits } from '../http/receive/read-received.ts'
import type { HygieneSettings } from '../prompt/hygiene/order-tools.ts'
import type { ModelRouter } from '../replicas/model-router.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import { permitLists } from '../templates/permit-lists.ts'
import type { TemplateBook } from '../templates/template-book.ts'
import type { Call, Exchange } from './call.ts'
import { CallContent, modelNameOf, type ReadContent } from './call.ts'
import { refuseSpentKey } from './charge-call.ts'

/** What reading a request needs of the pipeline. */
export interface Reading {
  /** may change while the proxy runs; read once per request */
  readonly settings: () => Settings
  readonly tenancy: () => Tenancy
  /** chunks with known borders, wherever they occur in prompts */
  readonly chunks: KnownChunks
  readonly templates: TemplateBook
  /** templates that no rule knows */
  readonly learnt: LearntTemplates
  readonly heavyTurns: HeavyTurns
  readonly bodyMemory: BodyMemory
  readonly rateLimits: RateLimits
  /** the models that names stand for */
  readonly models: Pick<ModelRouter<Replica>, 'aliases' | 'isNeeded' | 'targetOf' | 'targetBehind'>
  readonly telemetry: Pick<Telemetry, 'metrics'>
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** Reads a request. Throws a `ProxyError` for client mistakes. */
export async function readCall(
  pipeline: Reading,
  api: PromptApi,
  { incoming, clientLeft, telemetry }: Pick<Exchange, 'incoming' | 'clientLeft' | 'telemetry'>,
): Promise<Call> {
  // check access and limits before reading the body
  const caller = pipeline.tenancy().identify(incoming)
  telemetry.calledBy(caller)
  refuseSpentKey(pipeline, caller)
  const share = pipeline.bodyMemory.begin(caller.tenant)
  try {
    const limit = pipeline.settings().limits.body_bytes
    const body = await readBody(incoming, { limit, share, signal: clientLeft })
    return await toCall(pipeline, api, incoming, { body, share }, caller)
  } catch (error) {
    share.release()
    throw error
  }
}

/** Builds the `Call` for a request whose body has been read. Throws a `ProxyError` for client mistakes. */
export async function toCall(
  pipeline: Omit<Reading, 'tenancy' | 'bodyMemory' | 'rateLimits' | 'telemetry'>,
  api: PromptApi,
  incoming: IncomingMessage,
  { body: given, share }: { readonly body: Buffer; readonly share: BodyShare },
  caller: Caller,
): Promise<Call> {
  const settings = pipeline.settings()
  const options = { ...settings.options, ...readOptions(header(incoming, 'x-reprise-options')) }
  const encoding = header(incoming, 'content-encoding')?.trim().toLowerCase() || 'identity'
  const { body, alias } = encoding === 'identity' ? await namingTarget(pipeline, given) : { body: given }
  const isEncoded = encoding !== 'identity'
  const hygiene = hygieneOf(settings, options)
  const { isHeavy, ...read } = await readContent(pipeline, { api, caller, settings }, body, { isEncoded, hygiene })
  const content = new CallContent(body, share, read)
  const { model, stream } = content.members
  if (pipeline.models.isNeeded && read.received.whole?.isTooLong('model')) throw tooLongName()
  const { tenant } = caller
  return {
    api,
    caller,
    settings,
    conversation: header(incoming, 'x-reprise-conversation'),
    options,
    priority: readPriority(header(incoming, 'x-reprise-priority') ?? caller.key?.priority?.toString()),
    deadline: pipeline.now() + 1_000 * settings.limits.max_wait_seconds,
    content,
    isHeavy,
    budgetMilliseconds: isHeavy ? settings.workLimits.milliseconds : undefined,
    known: pipeline.templates.cutsOf(tenant, api),
    permit: permitFor(pipeline, { api, caller, settings, content }),
    model: typeof model === 'string' ? model : undefined,
    alias,
    isStream: stream === true,
  }
}

/**
 * Returns a call that goes as received, since the engine refused it in its rewritten form. What was placed elsewhere in
 * its prompt is where it was received again.
 */
export async function toRefused(pipeline: ReadingBodies, call: Call): Promise<Call> {
  const { content, settings } = call
  if (content.received.tidied.includes('placement')) {
    const hygiene = { ...settings.hygiene, behind_history: [] }
    content.readAgain(await readContent(pipeline, call, content.body, { hygiene }))
  }
  return { ...call, isRefused: true }
}

/**
 * Returns a call under the next model that its alias stands for, since no engine of the first was reached; undefined if
 * no ready engine serves one.
 */
export async function toFallBack(
  pipeline: ReadingBodies & Pick<Reading, 'models' | 'templates'>,
  call: Call,
): Promise<Call | undefined> {
  const { content, alias, settings, options } = call
  const model = alias === undefined ? undefined : pipeline.models.targetBehind(alias, call.model!)
  if (model === undefined) return undefined
  const named = await readModelName(content.body, undefined, pipeline.heavyTurns)
  const body = named!.rename(model)
  const hygiene = hygieneOf(settings, options)
  content.readAgain(await readContent(pipeline, call, body, { hygiene }), body)
  return { ...call, model, permit: permitFor(pipeline, call) }
}

function permitFor(
  { templates }: Pick<Reading, 'templates'>,
  { api, caller, settings, content }: Pick<Call, 'api' | 'caller' | 'settings' | 'content'>,
): Call['permit'] {
  return permitLists(templates, { tenant: caller.tenant, api, model: modelNameOf(content), mode: settings.mode })
}

type ReadingBodies = Pick<Reading, 'chunks' | 'learnt' | 'heavyTurns'>

/** Reads a body, and prepares to find lists in it. */
async function readContent(
  { chunks, learnt, heavyTurns }: ReadingBodies,
  { api, caller: { tenant }, settings }: Pick<Call, 'api' | 'caller' | 'settings'>,
  body: Buffer,
  { isEncoded = false, hygiene }: { readonly isEncoded?: boolean; readonly hygiene: HygieneSettings | undefined },
): Promise<ReadContent & { readonly isHeavy: boolean }> {
  const { learn, workLimits: limits, templates } = settings
  const reading = { isEncoded, hygiene, limits, turns: heavyTurns }
  const { received, isHeavy } = await readWithinLimits(api, body, reading)
  const found = learn ? learnt.finderFor({ tenant, api }) : undefined
  return { received, certain: new CertainLists(chunks.finderFor(tenant), templates, found), isHeavy }
}

/** What may be tidied up. Placement only in modes that move lists, and only if the request lets its own be moved. */
function hygieneOf({ mode, hygiene }: Settings, { reorder }: RequestOptions): HygieneSettings | undefined {
  if (mode === 'off') return undefined
  return mode === 'shadow' || reorder === false ? { ...hygiene, behind_history: [] } : hygiene
}

/** Returns a body that names the model itself, if what it names stands for another. */
async function namingTarget(
  { models, heavyTurns }: Pick<Reading, 'models' | 'heavyTurns'>,
  body: Buffer,
): Promise<{ readonly body: Buffer; readonly alias?: string }> {
  if (models.aliases.size === 0) return { body }
  const named = await readModelName(body, undefined, heavyTurns)
  const target = named && models.targetOf(named.name)
  return target === undefined ? { body } : { body: named!.rename(target), alias: named!.name }
}

function header(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name]
  return Array.isArray(value) ? value[0] : value
}
