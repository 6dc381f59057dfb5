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
 * A corpus on its way to preprocessing (FusionRAG §3.1), which `reprise_reuse` does in Python: it has the engine behind a
 * proxy compute documents after several others, before anybody asks for them.
 */
export class PreprocessedCorpus {
  readonly #options: PreprocessOptions
  readonly #folder: string
  readonly #file: number
  #child: ChildProcess | undefined
  /** A signal ends what computes, which is waited for; before, it ends this process, and leaves no text behind. */
  readonly #stop = (signal: NodeJS.Signals): void => {
    if (this.#child) {
      this.#child.kill(signal)
      return
    }
    this.close()
    process.kill(process.pid, signal)
  }

  /** Throws a ConfigError if no Python has the package, the options cannot be used, or the proxy's engine does not answer. */
  constructor(options: PreprocessOptions) {
    this.#options = options
    this.#folder = mkdtempSync(join(tmpdir(), 'reprise-corpus-'))
    try {
      this.#check()
    } catch (error) {
      rmSync(this.#folder, { recursive: true })
      throw error
    }
    for (const signal of signals) process.on(signal, this.#stop)
    this.#file = openSync(this.#path, 'w', 0o600)
  }

  add({ text }: GivenChunk): void {
    writeSync(this.#file, `${JSON.stringify({ text })}\n`)
  }

  /** Has everything that was added computed. Throws a ConfigError if that fails; what is done stays done. */
  async compute(): Promise<void> {
    // what it says goes to stderr: stdout is for the answer of this command
    const child = spawn(this.#options.python, ['-m', 'reprise_reuse', ...this.#arguments], { stdio: ['ignore', 2, 2] })
    this.#child = child
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code === 0) return
    const left = 'The chunks are registered, but not all are preprocessed'
    if (code === 2) throw new ConfigError(`${left}, for the reason above.`, 2)
    throw new ConfigError(`${left}: the same command goes on from there.`)
  }

  /** Removes the text. */
  close(): void {
    for (const signal of signals) process.off(signal, this.#stop)
    closeSync(this.#file)
    rmSync(this.#folder, { recursive: true })
  }

  get #arguments(): string[] {
    const { proxy, state, tenant, rest } = this.#options
    const named = tenant === undefined ? [] : ['--tenant', tenant]
    return ['preprocess', this.#path, '--engine', proxy, '--state', state, ...named, ...rest]
  }

  #check(): void {
    const { python } = this.#options
    const tried = spawnSync(python, ['-m', 'reprise_reuse', ...this.#arguments, '--check'], { encoding: 'utf8' })
    if (tried.status === 0) return
    const why =
      tried.error?.message ??
      tried.stderr
        .trim()
        .split('\n')
        .at(-1)!
        .replace(/^reprise_reuse: (?:error: )?/, '')
    if (tried.stderr?.includes('reprise_reuse: ')) {
      throw new ConfigError(`--preprocess: ${why}. Nothing was registered.`, tried.status === 2 ? 2 : 1)
    }
    const remedy =
      'install the wheel reprise-kernels, set PYTHONPATH to kernels/ of a checkout, or name another --python'
    throw new ConfigError(`--preprocess: ${python} cannot use reprise_reuse (${why}): ${remedy}.`, 2)
  }

  get #path(): string {
    return join(this.#folder, 'corpus.jsonl')
  }
}
