import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DemoError } from '../demo-error.ts'

/** One step of the set-up. Each builds on those before it. */
export interface SetupStep {
  readonly name: string
  readonly announcement: string
  /** Disk space the step needs. */
  readonly bytes: number
  /** The file the step produces; the step runs again if it is missing or if `inputs` have changed. */
  readonly product: string
  readonly inputs: readonly string[]
  readonly run: () => Promise<void>
}

/** Runs the first step that is not done and all after it; stamps each in the cache folder when it is done. */
export async function runOpenSteps(
  cache: string,
  steps: readonly SetupStep[],
  report: (line: string) => void,
): Promise<void> {
  const done = await Promise.all(steps.map((step) => isDone(cache, step)))
  const open = done.includes(false) ? steps.slice(done.indexOf(false)) : []
  await checkDisk(cache, open)
  for (const [at, step] of open.entries()) {
    report(`[${at + 1}/${open.length}] ${step.announcement}`)
    await step.run()
    await writeFile(stampOf(cache, step), fingerprint(step))
  }
}

async function isDone(cache: string, step: SetupStep): Promise<boolean> {
  if (!existsSync(step.product) || !existsSync(stampOf(cache, step))) return false
  return (await readFile(stampOf(cache, step), 'utf8')) === fingerprint(step)
}

async function checkDisk(cache: string, open: readonly SetupStep[]): Promise<void> {
  const needed = open.reduce((total, step) => total + step.bytes, 0)
  const { bavail, bsize } = await statfs(cache)
  if (bavail * bsize >= needed) return
  const [free, wanted] = [bavail * bsize, needed].map((bytes) => `${(bytes / 1e9).toFixed(1)} GB`)
  throw new DemoError(`${cache} has ${free} free and the set-up needs ${wanted}: free some, or set XDG_CACHE_HOME`)
}

function stampOf(cache: string, step: SetupStep): string {
  return join(cache, `${step.name}.done`)
}

function fingerprint(step: SetupStep): string {
  return createHash('sha256').update(JSON.stringify(step.inputs)).digest('hex')
}
