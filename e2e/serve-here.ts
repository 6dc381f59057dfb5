import { onTestFinished } from 'vitest'
import { toConfig } from '#proxy/config/config.ts'
import { loadConfig } from '#proxy/config/sources/config-source.ts'
import { startProxy } from '#proxy/start/main.ts'
import { ownEnvironment } from './own-environment.ts'

/** What `serve --config` does, but in this process and without a log, until the test ends: a process takes two seconds. */
export async function serveHere(file: string): Promise<{ listening: { url: string; admin_url: string } }> {
  const config = toConfig(loadConfig({ file, environment: ownEnvironment }).settings)
  const proxy = await startProxy({
    ...config,
    drain_seconds: 0,
    drain_delay_seconds: 0,
    logs: { ...config.logs, level: 'silent' },
  })
  onTestFinished(() => proxy.close())
  return { listening: { url: proxy.url, admin_url: proxy.adminUrl } }
}
