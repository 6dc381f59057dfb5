import type { Config, EngineConfig } from '#proxy/config/config.ts'
import { mergeSettings } from '#proxy/config/setting-values.ts'
import { defaultConfig } from '#proxy/config/sources/config-source.ts'
import { type RunningProxy, startProxy } from '#proxy/start/main.ts'

/** What differs from the defaults, setting by setting. */
export type Overrides = {
  readonly [Key in keyof Config]?: Config[Key] extends object ? Partial<Config[Key]> : Config[Key]
}

/** The configuration of a proxy on free ports of this machine that logs nothing. */
export function configWith(overrides: Overrides): Config {
  const local = '127.0.0.1:0'
  const quiet = { listen: local, admin: { listen: local }, drain_seconds: 5, mode: 'on', logs: { level: 'silent' } }
  return mergeSettings(mergeSettings({ ...defaultConfig() }, quiet), overrides) as unknown as Config
}

/** Starts a proxy on free ports of this machine, in front of an engine or the embedded emulator. */
export function startTestProxy(
  engine?: Partial<EngineConfig> & { url: string },
  config: Overrides = {},
): Promise<RunningProxy> {
  return startProxy(
    configWith({
      // generous, because on a busy machine a request would exceed the default time limit
      workLimits: { milliseconds: 60_000 },
      engines: engine ? [{ kind: 'openai', id: 'engine', ...engine }] : [],
      ...config,
    }),
  )
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
