import { promptApis } from '#engine-adapters/prompt-api.ts'
import { statusOf } from '#proxy/common/errors.ts'
import { readVersion } from '#proxy/common/read-version.ts'
import { engineSchema } from '#proxy/config/schema/config-schema.ts'
import { mostEngines } from '#proxy/config/sources/config-source.ts'
import { eventBatch, snapshot } from '#proxy/replicas/reports/callback-bodies.ts'
import { answers } from './answers.ts'
import { list, object, oneOf, portable, reference, type Schema, text } from './schemas.ts'

/** One operation: its answers are names of schemas by status, or media types. */
interface Operation {
  readonly summary: string
  readonly answers: Readonly<Record<number, string>>
  readonly body?: Schema
  readonly query?: Readonly<Record<string, Schema>>
  /** whether no token is needed */
  readonly isOpen?: boolean
}

const chunk = { type: 'object', required: ['text'], properties: { id: { type: ['string', 'number'] }, text } }
const names = { type: 'array', items: { type: ['string', 'number'] } }

/** The operations of the control plane, by method and path. */
const operations: Readonly<Record<string, Operation>> = {
  'GET /healthz': { summary: 'Whether the process is alive', answers: { 200: 'Status' }, isOpen: true },
  'GET /readyz': {
    summary: 'Whether requests are accepted',
    answers: { 200: 'Status', 503: 'Status' },
    isOpen: true,
  },
  'GET /': { summary: 'The dashboard', answers: { 200: 'text/html' }, isOpen: true },
  'GET /metrics': { summary: 'Metrics for Prometheus', answers: { 200: 'text/plain' } },
  'GET /v1/openapi.json': { summary: 'This document', answers: { 200: 'application/json' } },
  'GET /v1/usage': { summary: 'What each tenant and API key has used', answers: { 200: 'Usage' } },
  'GET /v1/gain': { summary: 'Cached tokens without reprise, with it, and possible', answers: { 200: 'Gain' } },
  'GET /v1/stats': { summary: 'What the dashboard shows', answers: { 200: 'Stats' } },
  'GET /v1/shapes': { summary: 'Recent prompts in which nothing was found', answers: { 200: 'Shapes' } },
  'GET /v1/mirror': { summary: 'What each replica is believed to have cached', answers: { 200: 'Mirror' } },
  'GET /v1/index': { summary: 'Size of the index, and the hottest blocks', answers: { 200: 'Index' } },
  'DELETE /v1/index': { summary: 'Forgets what replicas have cached', answers: { 200: 'Status' } },
  'POST /v1/explain': {
    summary: 'What would be sent for a request, and why; with `earlier`, for {"earlier": [bodies], "request": body}',
    answers: { 200: 'Explanation' },
    body: { type: 'object' },
    query: { api: oneOf(...promptApis), earlier: { type: 'string' } },
  },
  'GET /v1/chunks': { summary: 'How many chunks are known', answers: { 200: 'Chunks' } },
  'PUT /v1/chunks': {
    summary: 'Registers chunks; JSON Lines are accepted, too',
    answers: { 200: 'PutChunks' },
    body: object({ chunks: list(chunk) }, { tenant: text }),
    query: { tenant: text },
  },
  'DELETE /v1/chunks': {
    summary: 'Forgets chunks: those named, those of a tenant, or all',
    answers: { 200: 'ForgottenChunks' },
    body: object({}, { ids: names, texts: names, chunks: list({ type: 'object' }), tenant: text }),
    query: { tenant: text },
  },
  'GET /v1/templates': { summary: 'The templates that were learnt', answers: { 200: 'Templates' } },
  'GET /v1/templates/:id': { summary: 'One template', answers: { 200: 'Template' } },
  'PUT /v1/templates/:id': {
    summary: 'Permits or forbids moves in prompts of a template',
    answers: { 200: 'TemplateState' },
    body: object({ state: oneOf('on', 'off') }),
  },
  'DELETE /v1/templates/:id': { summary: 'Forgets a template', answers: { 200: 'TemplateState' } },
  'GET /v1/pins': { summary: 'The prompts that marks pin', answers: { 200: 'Pins' } },
  'DELETE /v1/pins': { summary: 'Unpins all', answers: { 200: 'Unpinned' } },
  'DELETE /v1/pins/:id': { summary: 'Unpins one', answers: { 200: 'Unpinned' } },
  'PUT /v1/engines': {
    summary: 'Replaces the engines',
    answers: { 200: 'Engines' },
    body: object({ engines: { ...list(engineSchema as Schema), minItems: 1, maxItems: mostEngines } }),
  },
  'POST /v1/drain': { summary: 'Shuts the proxy down, as SIGTERM does', answers: { 202: 'Status' } },
  'POST /v1/replicas/:replica/drain': { summary: 'Takes a replica out of service', answers: { 200: 'Replica' } },
  'POST /v1/replicas/:replica/resume': { summary: 'Puts a replica back', answers: { 200: 'Replica' } },
  'POST /v1/replicas/:replica/events': {
    summary: 'What an engine has stored and evicted',
    answers: { 200: 'Acknowledged', 409: 'Expected' },
    body: portable(eventBatch),
  },
  'POST /v1/replicas/:replica/snapshot': {
    summary: 'All that an engine has cached',
    answers: { 200: 'Acknowledged', 409: 'Expected' },
    body: portable(snapshot),
  },
  'POST /evict': {
    summary: 'Requests that an engine has evicted, from older hooks',
    answers: { 200: 'Evicted' },
    body: object({ request_ids: list(text) }),
  },
}

const error = object({
  error: object({ message: text, type: text, param: { type: 'null' }, code: oneOf(...Object.keys(statusOf)) }),
})
const json = (schema: Schema): object => ({ 'application/json': { schema } })

/** Returns the OpenAPI document of the control plane. */
export function openApiDocument(): { readonly paths: Record<string, Record<string, object>> } & Schema {
  const paths: Record<string, Record<string, object>> = {}
  for (const [route, operation] of Object.entries(operations)) {
    const [method, pattern] = route.split(' ') as [string, string]
    const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation, path) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'reprise: the admin listener', version: readVersion() },
    servers: [{ url: 'http://127.0.0.1:9090' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'admin.token; not from loopback' } },
      schemas: { ...answers, Error: error },
    },
  }
}

function describe({ summary, answers: own, body, query = {}, isOpen }: Operation, path: string): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
  ]
  const responses = Object.entries(own).map(([status, name]) => {
    const content = name in answers ? json(reference(name)) : { [name]: {} }
    return [status, { description: name in answers ? name : summary, content }]
  })
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: json(body) } }),
    ...(isOpen && { security: [] }),
    responses: {
      ...Object.fromEntries(responses),
      default: { description: 'A refusal that says what to do', content: json(reference('Error')) },
    },
  }
}
