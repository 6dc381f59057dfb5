import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { readTokens, tokenQuestions } from '#proxy/replicas/reports/token-question.ts'
import { type Finding, ok, warning } from '../finding.ts'
import { type EngineConnection, isGood } from './engine-connection.ts'

const check = 'token_endpoint'
const path = '/v1/chat/completions'

/**
 * Asks for the tokens of a small chat as the proxy would: without them, an engine's events cannot be tied to requests.
 */
export async function checkTokenEndpoint(
  connection: EngineConnection,
  { kind, model }: { readonly kind: EngineKind; readonly model: string },
): Promise<Finding> {
  const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }))
  const ways = tokenQuestions(adapterFor(kind), { api: 'chat_completions', path, body })?.ways ?? []
  const refused: string[] = []
  for (const way of ways) {
    const reply = await connection.post(way.path, JSON.parse(way.body))
    if (isGood(reply) && readTokens(reply.text)) return judgeAnswer(kind, way.path, refused)
    refused.push('status' in reply ? `${way.path} answers ${reply.status}` : `${way.path}: ${reply.message}`)
  }
  const fix =
    kind === 'vllm'
      ? "start vLLM with --enable-scale-out, let any proxy in front of it pass on '/tokenize', or use the plugin"
      : `let any proxy in front of ${adapterFor(kind).advice.name} pass on '/tokenize', or use the plugin`
  return warning(check, `${refused.join(', ')}: the engine's events cannot be tied to requests`, fix)
}

function judgeAnswer(kind: EngineKind, answering: string, refused: readonly string[]): Finding {
  if (kind === 'sglang')
    return ok(check, `${answering} answers; requests to /v1/responses and /v1/messages cannot be asked about`)
  if (refused.length === 0) return ok(check, `${answering} answers`)
  const found = `${refused[0]}: only plain chats and completions can be tied to events, by ${answering}`
  return warning(check, found, kind === 'vllm' ? 'start vLLM with --enable-scale-out' : undefined)
}
