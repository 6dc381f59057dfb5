import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request that an engine was sent, and its answer, as they went over the wire. */
export interface RecordedExchange {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** what it was tagged with */
  readonly request_id?: string
  readonly answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

/** What the plugin reported, in order. */
export interface RecordedReport {
  readonly type: string
  readonly request_id?: string
  readonly cached_tokens?: number
}

/** What one version of an engine answered, started in one way. */
export interface Recording {
  readonly engine: 'vllm' | 'sglang'
  readonly version: string
  readonly configuration: string
  readonly plugin: boolean
  readonly events: boolean
  readonly exchanges: readonly RecordedExchange[]
  readonly reports?: readonly RecordedReport[]
}

/** Everything that was recorded, of every engine, version and configuration (`recorder/README.md`). */
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

/** The recording in which everything is switched on, and everything was asked. */
export function isComplete({ configuration }: Recording): boolean {
  return configuration === 'reporting'
}

/** The exchange of a name; throws where it was not recorded. */
export function findExchange({ exchanges, engine, version }: Recording, name: string): RecordedExchange {
  const found = exchanges.find((exchange) => exchange.name === name)
  if (!found) throw new Error(`'${name}' was not recorded of ${engine} ${version}`)
  return found
}
