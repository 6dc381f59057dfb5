import type { Config, EngineConfig } from '#proxy/config/config.ts'
import { defaultConfig } from '#proxy/config/sources/config-source.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'

/** Starts a proxy on free ports of this machine, in front of an engine or the embedded emulator. */
export function startTestProxy(
  engine?: Partial<EngineConfig> & { url: string },
  config: Partial<Config> = {},
): Promise<RunningProxy> {
  const local = { host: '127.0.0.1', port: 0 }
  const standard = defaultConfig()
  return startProxy({
    ...standard,
    // generous, because on a busy machine a request would exceed the default time limit
    workLimits: { ...standard.workLimits, milliseconds: 60_000 },
    listen: local,
    adminListen: local,
    engines: engine ? [{ kind: 'openai', id: 'engine', ...engine }] : [],
    drainSeconds: 5,
    mode: 'on',
    logLevel: 'silent',
    ...config,
  })
}

/** Returns what a user's message holds as RAG applications write it. */
export function ragQuestion(question: string, blocks: readonly string[]): string {
  const documents = blocks.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')
  return `<documents>\n${documents}\n</documents>\n\nQuestion: ${question}`
}

/** Returns a chat request as RAG applications build it. */
export function ragRequest(
  question: string,
  blocks: readonly string[],
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    model: 'm',
    messages: [
      { role: 'system', content: 'Answer from the documents.' },
      { role: 'user', content: ragQuestion(question, blocks) },
    ],
    ...rest,
  }
}

export function postJson(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Returns the `error` of an answer in OpenAI's format. */
export async function errorOf(
  response: Response,
): Promise<{ message: string; type: string; param: null; code: string }> {
  return ((await response.json()) as { error: { message: string; type: string; param: null; code: string } }).error
}
