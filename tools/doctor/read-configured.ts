import { ConfigError } from '#proxy/common/errors.ts'
import { type EngineConfig, toConfig } from '#proxy/config/config.ts'
import { findExpired, findExpiredOfEngines, noEngine, readFiles } from '#proxy/config/read-files.ts'
import { loadConfig } from '#proxy/config/sources/config-source.ts'
import { findEngineWarnings, findWarnings } from '#proxy/config/start-warnings.ts'
import { resolveEngine } from '#proxy/replicas/discovery/resolve-engine.ts'
import { toEngines } from '#proxy/replicas/discovery/to-engines.ts'
import type { DoctorOptions } from './finding.ts'

/**
 * Returns what to check of each engine that a configuration names, or finds by name, with its key and certificates; of
 * the first one also the Redis, and what `serve` would warn of. Throws a ConfigError if `serve` could not start with this
 * configuration.
 */
export async function readConfigured(
  file: string,
  given: Omit<DoctorOptions, 'engine' | 'engineKey'>,
): Promise<DoctorOptions[]> {
  const config = toConfig(loadConfig({ file, environment: process.env }).settings)
  if (config.engines.length === 0) throw new ConfigError(noEngine)
  const files = readFiles(config)
  const startWarnings = [
    ...findWarnings(config),
    ...findEngineWarnings(config),
    ...findExpired(config, files),
    ...findExpiredOfEngines(files.engines),
  ]
  const engines = await Promise.all(
    files.engines.map(async (found) =>
      found.engine.discover ? toEngines(found, await resolve(found.engine)) : [found],
    ),
  )
  return engines.flat().map(({ engine, tls }, i) => ({
    ...given,
    adminToken: given.adminToken ?? config.admin.token,
    engine,
    engineKey: engine.api_key,
    engineTls: tls,
    ...(i === 0 ? { redisUrl: config.redis.url, redisTls: files.redis, startWarnings } : {}),
  }))
}

async function resolve(engine: EngineConfig): ReturnType<typeof resolveEngine> {
  const places = await resolveEngine(engine).catch((error: Error) => {
    throw new ConfigError(`The name in ${engine.url} cannot be resolved: ${error.message}`)
  })
  if (places.length === 0) throw new ConfigError(`The name in ${engine.url} leads to no engine.`)
  return places
}
