import { type Stats, unwatchFile, watchFile } from 'node:fs'
import type { Log } from '../../common/log.ts'

/** Changes within this time are one: a certificate and its key are written one after the other. */
const togetherMilliseconds = 50

/**
 * Calls `onChange` after any of these files was written, replaced, created or removed: they are looked at every
 * `pollMilliseconds`, since mounted Secrets change by links. Keeps no process alive. Returns what ends it.
 */
export function watchFiles(files: readonly string[], onChange: () => void, pollMilliseconds = 2_000): () => void {
  let timer: NodeJS.Timeout | undefined
  const onStat = (now: Stats, before: Stats): void => {
    // reading a file changes its stats too
    if (now.mtimeMs === before.mtimeMs && now.ino === before.ino && now.size === before.size) return
    timer ??= setTimeout(() => {
      timer = undefined
      onChange()
    }, togetherMilliseconds).unref()
  }
  for (const file of files) watchFile(file, { interval: pollMilliseconds, persistent: false }, onStat)
  return () => {
    clearTimeout(timer)
    for (const file of files) unwatchFile(file, onStat)
  }
}

/** Calls `renew` after certificates have changed; if they cannot be used, those before stay until they change again. */
export function watchCertificates(
  files: readonly string[],
  renew: () => void,
  log: Pick<Log, 'info' | 'error'>,
): () => void {
  return watchFiles(files, () => {
    try {
      renew()
      log.info({}, 'certificates reloaded')
    } catch (error) {
      log.error({ faults: (error as Error).message.split('\n') }, 'certificates not reloaded: those before stay')
    }
  })
}
