import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { liveFile } from './trace-part.ts'

const partName = /^\d{8}T\d{9}Z-\d+$/
/**
 * A part whose `live` file is older than this is no longer written: its proxy touches the file once a minute, and
 * removes it when it ends the part. File times work across hosts and containers, which share neither process ids nor
 * locks; ten minutes allow for clocks that differ and disks that hang.
 */
const liveMilliseconds = 600_000

/**
 * Deletes the oldest parts in a folder, of whichever proxy, until the rest is small enough. Never deletes anything else,
 * nor a part that is still being written. Skips parts that others delete at the same time, or that cannot be deleted.
 */
export async function dropOldestParts(folder: string, mostBytes: number, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => partName.test(name)).toSorted(comparePartNames)
  const parts = await Promise.all(names.map((name) => measure(join(folder, name), now)))
  let total = parts.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size, isLive } of parts) {
    if (total <= mostBytes) return
    if (isLive) continue
    const isGone = await rm(path, { recursive: true, force: true }).then(
      () => true,
      () => false,
    )
    if (isGone) total -= size
  }
}

interface MeasuredPart {
  readonly path: string
  readonly size: number
  readonly isLive: boolean
}

async function measure(path: string, now: number): Promise<MeasuredPart> {
  const files = await readdir(path).catch((): string[] => [])
  const found = await Promise.all(files.map((file) => stat(join(path, file)).catch(() => undefined)))
  const live = found[files.indexOf(liveFile)]
  return {
    path,
    size: found.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    isLive: live !== undefined && now - live.mtimeMs < liveMilliseconds,
  }
}

/** By stamp, then by count: numbers in names are compared as numbers. */
function comparePartNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
