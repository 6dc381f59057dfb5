import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { type PromptApi, promptPaths } from '#engine-adapters/prompt-api.ts'
import { readTokens } from '#proxy/replicas/reports/token-question.ts'
import { describeReply, type EngineConnection, isGood } from '../../engine-connection.ts'
import { type Finding, ok, warning } from '../finding.ts'

const check = 'token_endpoint'

interface AskedTokens {
  /** of the first prompt; undefined: no path answers with them */
  readonly tokens: Uint32Array | undefined
  /** the path that answers */
  readonly path: string
  /** how those asked before answer */
  readonly refused: readonly string[]
}

/** Asks for the tokens of a request as the proxy would. */
export async function askTokens(
  connection: EngineConnection,
  kind: EngineKind,
  api: PromptApi,
  members: Readonly<Record<string, unknown>>,
): Promise<AskedTokens> {
  const refused: string[] = []
  for (const { path, body } of adapterFor(kind).tokenQuestions(api, promptPaths[api], members)) {
    const reply = await connection.post(path, body)
    const tokens = isGood(reply) ? readTokens(reply.text)?.[0] : undefined
    if (tokens) return { tokens, path, refused }
    refused.push(`${path}${reply.status === 0 ? ':' : ''} ${describeReply(reply)}`)
  }
  return { tokens: undefined, path: '', refused }
}

/** Asks for the tokens of a small chat: without them, an engine's events cannot be tied to requests. */
export async function checkTokenEndpoint(
  connection: EngineConnection,
  kind: EngineKind,
  model: string,
): Promise<Finding> {
  const chat = { model, messages: [{ role: 'user', content: 'Hi' }] }
  const { tokens, path, refused } = await askTokens(connection, kind, 'chat_completions', chat)
  const passOn = `let any proxy in front of ${adapterFor(kind).advice.name} pass on '/tokenize', or use the plugin`
  const render = 'start vLLM with --enable-scale-out'
  if (!tokens) {
    const found = `${refused.join(', ')}: the engine's events cannot be tied to requests`
    return warning(check, found, kind === 'vllm' ? `${render}, ${passOn}` : passOn)
  }
  if (kind === 'sglang')
    return ok(check, `${path} answers; requests to /v1/responses and /v1/messages cannot be asked about`)
  if (refused.length === 0) return ok(check, `${path} answers`)
  const found = `${refused[0]}: only plain chats and completions can be tied to events, by ${path}`
  return warning(check, found, kind === 'vllm' ? render : undefined)
}
