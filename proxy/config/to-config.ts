import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { Mode } from '../common/settings.ts'
import { type Config, constants, type EngineConfig, type EngineSettings, type WrittenConfig } from './config.ts'

/** Fills in what follows from other settings. */
export function toConfig(written: WrittenConfig): Config {
  const { engines, engine_api_key: sharedKey, admin } = written
  return {
    ...constants,
    ...written,
    engines: toEngines(engines, sharedKey),
    mode: toMode(written),
    // a token read from a file often ends in a newline, which no header can contain
    admin: { ...admin, token: admin.token?.trim() || undefined },
  }
}

/** Gives engines their kind, their names and the key of those without one. */
export function toEngines(engines: readonly EngineSettings[], sharedKey: string | undefined): EngineConfig[] {
  const taken = new Set(engines.map(({ id }) => id))
  return engines.map((engine) => ({ kind: 'openai', api_key: sharedKey, ...engine, id: engine.id ?? freeId(taken) }))
}

/** The first of engine, engine-2, engine-3 … that no engine uses. */
function freeId(taken: Set<string | undefined>): string {
  let id = 'engine'
  for (let n = 2; taken.has(id); n++) id = `engine-${n}`
  taken.add(id)
  return id
}

/** What may be moved without a setting: what can be proved on an engine, or else what a person confirms. */
function toMode({ mode, engines }: Pick<WrittenConfig, 'mode' | 'engines'>): Mode {
  if (typeof mode === 'boolean') return mode ? 'on' : 'off'
  if (mode !== undefined) return mode
  return engines.length === 0 || engines.some(({ kind = 'openai' }) => adapterFor(kind).scoreAnswer) ? 'auto' : 'ask'
}
