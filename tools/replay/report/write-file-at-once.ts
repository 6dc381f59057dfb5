import { accessSync, constants, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError } from '#proxy/common/errors.ts'

/** File names that a trace is read from. */
const inputName = /^(queries|turns|questions|blocks)\.jsonl(\.gz)?$/

/**
 * Throws a `ConfigError` for output files that cannot be written, that would overwrite the trace, or that are the same
 * file. This happens before the replay, so that no work is lost.
 */
export function checkOutputs(files: readonly string[], trace: string): void {
  const inputs = realPathOf(trace)
  const folder = existsSync(inputs) && statSync(inputs).isDirectory() ? inputs : dirname(inputs)
  for (const file of files) {
    checkWritable(file)
    const real = realPathOf(file)
    if (real === inputs || (dirname(real) === folder && inputName.test(basename(real)))) {
      throw new ConfigError(`cannot write ${file}: the trace is read from it`, 2)
    }
  }
  const plain = files.filter(isPlainFile)
  if (new Set(plain.map(realPathOf)).size < plain.length) {
    throw new ConfigError(`cannot write ${files.join(' and ')}: they are the same file`, 2)
  }
}

/** Whether it is, or will be, one: a pipe or device cannot be replaced by renaming, and may be written to twice. */
function isPlainFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? true
}

/** Resolves links in a path, as far as it exists. */
function realPathOf(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  const folder = dirname(file)
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(file))
}

function checkWritable(file: string): void {
  if (file === '') throw new ConfigError('cannot write to a file without a name', 2)
  const folder = dirname(file)
  try {
    accessSync(join(folder, '/'), constants.W_OK)
  } catch {
    throw new ConfigError(`cannot write ${file}: there is no folder ${folder} that can be written to`, 2)
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigError(`cannot write ${file}: it is a folder; name a file in it`, 2)
  }
}

/**
 * Writes a file atomically: it replaces an existing file only once it is complete. Throws a `ConfigError` on failure.
 */
export function writeFileAtOnce(file: string, parts: Iterable<string>): void {
  const isPlain = isPlainFile(file)
  const place = isPlain ? realPathOf(file) : file
  const target = isPlain ? `${place}.${process.pid}.tmp` : file
  try {
    writeFileSync(target, [...parts].join(''))
    if (isPlain) renameSync(target, place)
  } catch (cause) {
    if (isPlain) rmSync(target, { force: true })
    throw new ConfigError(`cannot write ${file}: ${(cause as Error).message}`)
  }
}
