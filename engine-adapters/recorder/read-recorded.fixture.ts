import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request to an engine and its answer, as sent over the wire. */
export interface RecordedExchange {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** the id it was tagged with */
  readonly request_id?: string
  readonly answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

/** One report of the plugin; a recording lists them in order. */
interface RecordedReport {
  readonly type: string
  readonly request_id?: string
  readonly cached_tokens?: number
}

/** The answers of one version of an engine in one configuration. */
export interface Recording {
  readonly engine: 'vllm' | 'sglang'
  readonly version: string
  readonly configuration: string
  readonly plugin: boolean
  readonly events: boolean
  readonly exchanges: readonly RecordedExchange[]
  readonly reports?: readonly RecordedReport[]
}

/** Reads all recordings, of every engine, version and configuration (`recorder/README.md`). */
export function readRecordings(): Recording[] {
  return (['vllm', 'sglang'] as const).flatMap((engine) => {
    const fixtures = join(import.meta.dirname, '..', engine, 'fixtures')
    return readdirSync(fixtures).flatMap((version) =>
      readdirSync(join(fixtures, version)).map((file) => ({
        ...(JSON.parse(readFileSync(join(fixtures, version, file), 'utf8')) as Omit<Recording, 'configuration'>),
        configuration: file.replace(/\.json$/, ''),
      })),
    )
  })
}

/** Whether everything was switched on and asked in this recording. */
export function isComplete({ configuration }: Recording): boolean {
  return configuration === 'reporting'
}

/** Returns the exchange of a name; throws if it was not recorded. */
export function findExchange({ exchanges, engine, version }: Recording, name: string): RecordedExchange {
  const found = exchanges.find((exchange) => exchange.name === name)
  if (!found) throw new Error(`'${name}' was not recorded of ${engine} ${version}`)
  return found
}
