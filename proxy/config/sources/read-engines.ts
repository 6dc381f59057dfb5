import { ConfigError } from '../../common/errors.ts'
import type { EngineConfig, EngineSettings } from '../config.ts'
import { checkSettings } from '../faults/check-settings.ts'
import { engineFaults } from '../faults/find-contradictions.ts'
import { writeFault } from '../faults/write-fault.ts'
import { engineSchema } from '../schema/engine-schema.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { toEngines } from '../to-config.ts'

/** Each engine that joins takes time on the event loop. */
export const mostEngines = 256

const schema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['engines'],
  properties: { engines: { type: 'array', items: engineSchema, minItems: 1 } },
}

/**
 * Reads `{"engines": […]}`, with engines as in the configuration. `sharedKey`: the key of those without one. Throws a
 * ConfigError with a line for each fault.
 */
export function readEngines(value: unknown, sharedKey: string | undefined): EngineConfig[] {
  const engines = (value as { engines?: unknown } | null)?.engines
  // before each of them is checked
  if (Array.isArray(engines) && engines.length > mostEngines)
    throw new ConfigError(`engines: at most ${mostEngines} can be named, not ${engines.length}`)
  const mistyped = checkSettings(schema, value)
  const faults = mistyped.length > 0 ? mistyped : engineFaults((value as { engines: EngineSettings[] }).engines)
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => writeFault(fault, undefined)).join('\n'))
  return toEngines((value as { engines: EngineSettings[] }).engines, sharedKey)
}
