import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '#engine-adapters/json-object.ts'
import { defaultTenant } from '../../access/tenancy.ts'
import type { GivenChunk } from '../../chunks/known-chunks.ts'
import { ConfigError, statusOf } from '../../common/errors.ts'
import { askAdmin, whyUnreached } from '../../config/ask-admin.ts'
import { endlessHops } from '../../http/forwarded-headers.ts'

/** How a corpus is preprocessed, and for whom. */
export interface PreprocessOptions {
  /** the proxy's data plane, where applications connect */
  readonly proxy: string
  readonly admin: string
  readonly python: string
  /** what is done, so that another run goes on from there */
  readonly state: string
  /** undefined: the one of the key that is sent */
  readonly tenant?: string
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Registers chunks and preprocesses them (FusionRAG §3.1), which `reprise_reuse` does in Python: it has the engine behind a
 * proxy compute documents after several others, before anybody asks for them. `rest`: further options of its own.
 * `register` passes each chunk to `add`.
 * Throws a ConfigError, with nothing registered, if no Python has the package, the options cannot be used, or the proxy's
 * engine does not answer; and one if computing fails: what is done stays done.
 */
export async function preprocess<Result>(
  { proxy, python, state, tenant }: PreprocessOptions,
  rest: readonly string[],
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

/**
 * Throws a ConfigError if what is computed through `proxy` would be found by nobody: that is an engine's own URL, or its
 * requests, with the API key `key`, do not count as those of the tenant.
 */
export async function checkProxy({ proxy, admin, tenant }: PreprocessOptions, key: string | undefined): Promise<void> {
  await checkIsProxy(proxy)
  if (tenant !== undefined) await checkTenant(admin, key, tenant)
}

/** Only a proxy refuses a request that seems to go round in a circle. */
async function checkIsProxy(proxy: string): Promise<void> {
  const url = new URL(proxy)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/models`
  const answer = await fetch(url, { headers: endlessHops }).catch((error: Error) => {
    throw new ConfigError(`--proxy: ${proxy} cannot be reached (${whyUnreached(error)}). Nothing was registered.`)
  })
  await answer.text()
  if (answer.status === statusOf.loop_detected) return
  throw new ConfigError(
    `--proxy: ${proxy} is no reprise proxy, by its answer (status ${answer.status}; an engine's own URL?): what is computed there, no request that comes through the proxy finds. Name the URL at which applications reach the proxy. Nothing was registered.`,
    2,
  )
}

async function checkTenant(admin: string, key: string | undefined, tenant: string): Promise<void> {
  const { tenants } = await askAdmin<{ tenants: Json }>(admin, '/v1/mirror', 'GET')
  // it takes the tenant from the header
  if (tenants.from !== 'none' && tenants.trusts_caller === true) return
  const own = await tenantOfKey(admin, key)
  if (own === tenant) return
  const why =
    tenants.from === 'none'
      ? 'all are one tenant here (tenants.from is none): leave --tenant out'
      : `set REPRISE_API_KEY to a key of '${tenant}', or list this machine in tenants.trusted_peers`
  const whose = key === undefined ? 'Without REPRISE_API_KEY, requests' : 'Requests with this REPRISE_API_KEY'
  throw new ConfigError(
    `--tenant: ${whose} are those of '${own}', not of '${tenant}': ${why}. Nothing was registered.`,
    2,
  )
}

/** Returns the name of the tenant whose requests with this key are. */
async function tenantOfKey(admin: string, key: string | undefined): Promise<string> {
  if (key === undefined) return defaultTenant
  const body = JSON.stringify({ prompt: '' })
  const headers = { 'x-reprise-key': key }
  return (await askAdmin<{ tenant: string }>(admin, '/v1/explain?api=completions', 'POST', body, headers)).tenant
}
