import { type EngineKind, engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { Mode } from './decide.ts'

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** One engine, as `--engine URL[,kind=…][,id=…]` names it. */
export interface EngineConfig {
  readonly url: string
  readonly kind: EngineKind
  readonly id: string
}

/** What `reprise serve` runs with. */
export interface Config {
  readonly listen: ListenAddress
  readonly adminListen: ListenAddress
  /** undefined: the embedded emulator */
  readonly engine: EngineConfig | undefined
  readonly mode: Mode
  /** how contexts are ordered: by the prefixes that were sent, or as the ContextPilot paper has it */
  readonly ordering: 'reprise' | 'paper'
  /** furthest a block may stand from its rank, in places; undefined: anywhere. The paper's ordering has no bound */
  readonly maxDisplacement?: number | undefined
  readonly bodyLimitBytes: number
  readonly groupWindowMilliseconds: number
  readonly drainSeconds: number
  readonly adminToken: string | undefined
  readonly logLevel: string
}

/** A setting that cannot be used. The message says which and what to write instead. */
export class ConfigError extends Error {}

/** Reads `HOST:PORT`, also `[::1]:PORT` and `:PORT`. */
export function readListenAddress(text: string): ListenAddress {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) throw new ConfigError(`'${text}' is not an address: write HOST:PORT.`)
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) }
}

/** Reads the URL of something that speaks HTTP. */
export function readUrl(text: string): string {
  if (isHttpUrl(text)) return text
  throw new ConfigError(`'${text}' is not a URL: write http://HOST:PORT/….`)
}

/** Reads `URL[,kind=vllm|sglang|openai][,id=NAME]`. */
export function readEngine(text: string): EngineConfig {
  const [url = '', ...settings] = text.split(',')
  if (!isHttpUrl(url)) {
    throw new ConfigError(`'${url}' is not the URL of an engine: write for example http://127.0.0.1:8000,kind=vllm.`)
  }
  const engine = { url, kind: 'openai' as EngineKind, id: 'engine' }
  for (const setting of settings) {
    const [name, value = ''] = setting.split('=')
    if (name === 'kind' && engineKinds.some((kind) => kind === value)) engine.kind = value as EngineKind
    else if (name === 'id' && /^[\w.-]+$/.test(value)) engine.id = value
    else
      throw new ConfigError(
        `'${setting}' is not a setting of --engine: known are kind=${engineKinds.join('|')} and id=NAME.`,
      )
  }
  return engine
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Reads a whole number of at least `least`. */
export function readNumber(text: string, least: number): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isInteger(number) || number < least)
    throw new ConfigError(`'${text}' is not a whole number of at least ${least}.`)
  return number
}
