import { InvalidArgumentError } from 'commander'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { ConfigError } from '../common/errors.ts'
import type { ListenAddress } from '../http/listener.ts'
import type { EngineSettings } from './config.ts'
import { checkSettings } from './faults/check-settings.ts'
import { engineSchema } from './schema/config-schema.ts'

/** Reads `HOST:PORT`, also `[::1]:PORT` and `:PORT`. */
export function readListenAddress(text: string): ListenAddress {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) throw new ConfigError(`'${text}' is not an address: write HOST:PORT.`)
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) }
}

/** Reads an HTTP or HTTPS URL. */
export function readUrl(text: string): string {
  if (isHttpUrl(text)) return text
  throw new ConfigError(`'${text}' is not a URL: write http://HOST:PORT/….`)
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Says what is wrong with the URL of an engine that ends in a query or a fragment, even an empty one. */
export function queryFault(url: string): string | undefined {
  return /[?#]/.test(url)
    ? 'has a query or a fragment, which are not sent: leave out what begins with ? or #'
    : undefined
}

/** The settings that may stand behind a URL in `--engine`. */
const engineWords: ReadonlySet<string> = new Set(['kind', 'id', 'events', 'replay', 'discover'])

/** Reads `URL[,kind=vllm|sglang|openai][,id=NAME][,events=tcp://HOST:PORT][,replay=tcp://HOST:PORT][,discover=addresses|srv|endpoints]`. */
export function readEngine(text: string): EngineSettings {
  const [url = '', ...words] = text.split(',')
  if (!isHttpUrl(url)) {
    throw new ConfigError(`'${url}' is not the URL of an engine: write for example http://127.0.0.1:8000,kind=vllm.`)
  }
  // not repeated: it may hold a key
  const fault = queryFault(url)
  if (fault) throw new ConfigError(`The URL of an engine ${fault}.`)
  const engine: EngineSettings = { url }
  for (const word of words) {
    const [name = '', value = ''] = word.split('=')
    if (!engineWords.has(name) || checkSettings(engineSchema.properties![name]!, value).length > 0) {
      throw new ConfigError(
        `'${word}' is not a setting of --engine: known are kind=${engineKinds.join('|')}, id=NAME, events=tcp://HOST:PORT, replay=tcp://HOST:PORT and discover=addresses|srv|endpoints.`,
      )
    }
    Object.assign(engine, { [name]: value })
  }
  return engine
}

/** Reads a whole number of at least `least`. */
export function readNumber(text: string, least: number): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(number) || number < least)
    throw new ConfigError(`'${text}' is not a whole number of at least ${least}.`)
  return number
}

/** Turns what a reader of arguments throws into commander's usage error. */
export function argument<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }
}

export function atLeast(least: number): (text: string) => number {
  return argument((text) => readNumber(text, least))
}

/** Reads the size of a cache in tokens, which may be `unlimited`. */
export function readCapacity(text: string): number {
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : atLeast(1)(text)
}

/** A URL as it may be shown: without user and password. */
export function withoutPassword(text: string): string {
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  return url.href
}
