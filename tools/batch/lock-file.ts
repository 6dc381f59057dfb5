import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { ConfigError } from '#proxy/common/errors.ts'

/**
 * Keeps other runs from writing to `path` until the returned function is called. The lock of a process that has ended is
 * replaced. Throws a ConfigError if another run has it, or if there can be no file.
 */
export function lockFile(path: string): () => void {
  const lock = `${path}.lock`
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 })
      return () => rmSync(lock, { force: true })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST') throw new ConfigError(`cannot write ${path}: ${message}`, 2)
    }
    const owner = readOwner(lock)
    if (owner !== undefined && isRunning(owner)) {
      throw new ConfigError(
        `another run (process ${owner}) writes to ${path}: wait for it, or delete ${lock} if that is no run.`,
        2,
      )
    }
    rmSync(lock, { force: true })
  }
}

function readOwner(lock: string): number | undefined {
  try {
    return Number(readFileSync(lock, 'utf8')) || undefined
  } catch {
    // released since
    return undefined
  }
}

/** A lock with our own number is of an earlier process, as in containers that start anew. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
