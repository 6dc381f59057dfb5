import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')
/** The build context of `docker build`. */
const context = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))
/** Debian's user nobody; like the image's user, it owns none of the product's files. */
const nobody = 65534

/** The output of `packaging/assemble.sh`, in a read-only folder; if the tests run as root, it runs as nobody. */
export class Assembled {
  readonly folder: string
  readonly #above: string
  /** a copy of Node, because this process's own may be inaccessible to another user */
  readonly #node: string
  readonly #started: ChildProcess[] = []
  readonly #identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  /** without a home folder or a folder for temporary files */
  readonly #env = { PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: '/nonexistent' }

  constructor() {
    this.#above = mkdtempSync(join(tmpdir(), 'reprise-assembled-'))
    chmodSync(this.#above, 0o755)
    // a copy, because other tests may be running the checkout's own dist/
    const checkout = join(this.#above, 'checkout')
    for (const name of context) cpSync(join(root, name), join(checkout, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    this.#node = join(this.#above, 'node')
    copyFileSync(process.execPath, this.#node)
    this.folder = join(this.#above, 'app')
    execFileSync('bash', [join(checkout, 'packaging', 'assemble.sh'), this.folder], { stdio: 'pipe' })
    rmSync(checkout, { recursive: true })
    execFileSync('chmod', ['-R', 'a-w', this.folder])
  }

  /** Starts a command that listens. Returns the parsed line that it prints then. */
  async start(...args: string[]): Promise<Record<string, string>> {
    const options = { ...this.#identity, env: this.#env, cwd: '/' }
    const child = spawn(this.#node, [join(this.folder, 'bin', 'reprise'), ...args], options)
    this.#started.push(child)
    let stderr = ''
    child.stderr!.on('data', (chunk) => {
      stderr += chunk
    })
    const [line] = await Promise.race([
      once(createInterface(child.stdout!), 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}: ${stderr}`))),
    ])
    return JSON.parse(line as string)
  }

  /** Runs a command to its end. */
  run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    const options = { ...this.#identity, env: this.#env, cwd: '/', encoding: 'utf8' as const }
    return spawnSync(this.#node, [join(this.folder, 'bin', 'reprise'), ...args], options)
  }

  /** Ends the command started last, as an orchestrator would. Returns its exit code. */
  async terminate(): Promise<number | null> {
    const child = this.#started.pop()!
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  }

  remove(): void {
    for (const child of this.#started.splice(0)) child.kill('SIGKILL')
    execFileSync('chmod', ['-R', 'u+w', this.#above])
    rmSync(this.#above, { recursive: true })
  }
}
