import { accessSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ReplayError } from '../replay-error.ts'

/** Refuses a file that cannot be written, before the work that would be lost with it. */
export function checkWritable(file: string): void {
  const folder = dirname(file)
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new ReplayError(`cannot write ${file}: there is no folder ${folder} that can be written to`, 2)
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ReplayError(`cannot write ${file}: it is a folder; name a file in it`, 2)
  }
}

/** Writes a file that is either there as a whole or not at all; what was there before stays until then. */
export function writeFileAtOnce(file: string, parts: Iterable<string>): void {
  // pipes and devices cannot be renamed over
  const isPlain = statSync(file, { throwIfNoEntry: false })?.isFile() ?? true
  const target = isPlain ? `${file}.${process.pid}.tmp` : file
  try {
    writeFileSync(target, [...parts].join(''))
    if (isPlain) renameSync(target, file)
  } catch (cause) {
    if (isPlain) rmSync(target, { force: true })
    throw new ReplayError(`cannot write ${file}: ${(cause as Error).message}`)
  }
}
