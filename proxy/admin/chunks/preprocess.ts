import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GivenChunk } from '../../chunks/known-chunks.ts'
import { ConfigError } from '../../common/errors.ts'

/** How a corpus is preprocessed. */
interface PreprocessOptions {
  /** the proxy's data plane */
  readonly proxy: string
  readonly python: string
  /** what is done, so that another run goes on from there */
  readonly state: string
  readonly tenant: string | undefined
  /** further options of `python -m reprise_reuse preprocess` */
  readonly rest: readonly string[]
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Registers chunks and preprocesses them (FusionRAG §3.1), which `reprise_reuse` does in Python: it has the engine behind a
 * proxy compute documents after several others, before anybody asks for them. `register` passes each chunk to `add`.
 * Throws a ConfigError, with nothing registered, if no Python has the package, the options cannot be used, or the proxy's
 * engine does not answer; and one if computing fails: what is done stays done.
 */
export async function preprocess<Result>(
  { proxy, python, state, tenant, rest }: PreprocessOptions,
  register: (add: (chunk: GivenChunk) => void) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-corpus-'))
  const path = join(folder, 'corpus.jsonl')
  const named = tenant === undefined ? [] : ['--tenant', tenant]
  const args = ['-m', 'reprise_reuse', 'preprocess', path, '--engine', proxy, '--state', state, ...named, ...rest]
  let child: ChildProcess | undefined
  const clean = (): void => {
    for (const signal of signals) process.off(signal, stop)
    rmSync(folder, { recursive: true })
  }
  // a signal ends what computes, which is waited for; before, it ends this process, and leaves no text behind
  const stop = (signal: NodeJS.Signals): void => {
    if (child) {
      child.kill(signal)
      return
    }
    clean()
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, stop)
  try {
    check(python, args)
    const file = openSync(path, 'w', 0o600)
    const result = await register(({ text }) => writeSync(file, `${JSON.stringify({ text })}\n`))
    closeSync(file)
    // what it says goes to stderr: stdout is for the answer of this command
    child = spawn(python, args, { stdio: ['ignore', 2, 2] })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code === 0) return result
    const left = 'The chunks are registered, but not all are preprocessed'
    if (code === 2) throw new ConfigError(`${left}, for the reason above.`, 2)
    throw new ConfigError(`${left}: the same command goes on from there.`)
  } finally {
    clean()
  }
}

function check(python: string, args: readonly string[]): void {
  const { status, error, stderr } = spawnSync(python, [...args, '--check'], { encoding: 'utf8' })
  if (status === 0) return
  const last = stderr?.trim().split('\n').at(-1) ?? ''
  const why = error?.message ?? last.replace(/^reprise_reuse: (?:error: )?/, '')
  if (stderr?.includes('reprise_reuse: ')) {
    throw new ConfigError(`--preprocess: ${why}. Nothing was registered.`, status === 2 ? 2 : 1)
  }
  const remedy = 'install the wheel reprise-kernels, set PYTHONPATH to kernels/ of a checkout, or name another --python'
  throw new ConfigError(`--preprocess: ${python} cannot use reprise_reuse (${why}): ${remedy}.`, 2)
}
