import { delimiter, join } from 'node:path'
import { request } from 'undici'
import type { Child, Children } from '../children.ts'
import { DemoError } from '../demo-error.ts'
import { findFreePort } from '../find-free-port.ts'
import type { Server } from '../start-reprise.ts'
import type { VllmInstallation } from './setup-vllm.ts'

const MODEL_POSITIONS = 8192
const MODEL_NAME = 'SmolLM2-135M-Instruct'
const POLL_MS = 1000
const REPORT_EVERY = 15
const PATIENCE_SECONDS = 600

// float32 is the fast type on CPUs without AMX, where vLLM accepts only multiples of 32 as block size
const BLOCK_SIZE = 32
const FLAGS = [
  '--dtype',
  'float32',
  '--enforce-eager',
  '--block-size',
  String(BLOCK_SIZE),
  '--enable-prompt-tokens-details',
]

const ENVIRONMENT = {
  HF_HUB_OFFLINE: '1',
  OMP_NUM_THREADS: process.env.OMP_NUM_THREADS ?? '2',
  VLLM_CPU_KVCACHE_SPACE: '4',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  // opens the route that empties the cache between two runs
  VLLM_SERVER_DEV_MODE: '1',
}

const CHECKOUT = join(import.meta.dirname, '..', '..', '..')
const PLUGIN = ['engine-adapters/vllm/plugin', 'engine-adapters/python', 'kernels']

export interface VllmOptions {
  /** size of the cache in tokens; undefined: vLLM's own choice */
  readonly deviceTokens?: number | undefined
  /**
   * loads the plugin, which keeps KV in `hostBytes` of host memory and reuses it at any position; undefined: no plugin
   */
  readonly reuse?: ReuseOptions | undefined
}

interface ReuseOptions {
  readonly hostBytes: number
  readonly hostDtype: HostDtype
  readonly callbackUrl: string
}

/**
 * How KV is stored in host memory: in the model's type, in eight bits, or with keys in eight bits and values in four.
 */
export const HOST_DTYPES = ['model', 'int8', 'k8v4'] as const
export type HostDtype = (typeof HOST_DTYPES)[number]

/** Serves the model on a free port and waits until it answers. */
export async function startVllm(
  children: Children,
  installation: VllmInstallation,
  { deviceTokens, reuse }: VllmOptions = {},
): Promise<Server> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const place = ['--host', '127.0.0.1', '--port', String(port), '--served-model-name', MODEL_NAME]
  const args = ['serve', installation.model, ...place, '--max-model-len', String(MODEL_POSITIONS), ...FLAGS]
  if (deviceTokens) args.push('--num-gpu-blocks-override', String(Math.ceil(deviceTokens / BLOCK_SIZE)))
  if (reuse) args.push('--kv-transfer-config', JSON.stringify(toConnector(reuse)))
  const plugin = reuse ? toPluginEnvironment(reuse.callbackUrl) : {}
  const child = children.start(installation.vllm, args, { ...process.env, ...ENVIRONMENT, ...plugin })
  await waitUntilReady(url, child)
  return { url, stop: child.stop }
}

/** Empties the prefix cache and, if `reuse`, the plugin's store, so that the next run starts like the first. */
export async function emptyCache({ url }: Server, { reuse = false }: { readonly reuse?: boolean } = {}): Promise<void> {
  const response = await request(`${url}/reset_prefix_cache?reset_external=${reuse}`, { method: 'POST' })
  const { success } = (await response.body.json()) as { success?: boolean }
  if (success !== true) throw new DemoError('vLLM did not empty its prefix cache')
}

function toConnector({ hostBytes, hostDtype }: ReuseOptions): object {
  return {
    kv_connector: 'RepriseConnector',
    kv_connector_module_path: 'reprise_vllm.connector',
    kv_role: 'kv_both',
    kv_connector_extra_config: { reuse: { host_bytes: hostBytes, host_dtype: hostDtype } },
  }
}

function toPluginEnvironment(callbackUrl: string): NodeJS.ProcessEnv {
  return { PYTHONPATH: PLUGIN.map((path) => join(CHECKOUT, path)).join(delimiter), REPRISE_CALLBACK_URL: callbackUrl }
}

async function waitUntilReady(url: string, child: Child): Promise<void> {
  const ended = child.ended.then(() => {
    throw new DemoError(`vllm serve ended before it was ready:\n${child.tail()}`)
  })
  for (let seconds = 0; seconds < PATIENCE_SECONDS; seconds += POLL_MS / 1000) {
    if (await isReady(url)) return
    if (seconds % REPORT_EVERY === 0) process.stderr.write(`vLLM loads the model … ${seconds} s\n`)
    await Promise.race([new Promise((resolve) => setTimeout(resolve, POLL_MS)), ended])
  }
  throw new DemoError(`vLLM was not ready after ${PATIENCE_SECONDS} s:\n${child.tail()}`)
}

async function isReady(url: string): Promise<boolean> {
  // nothing listens while the model loads
  const response = await request(`${url}/health`).catch(() => undefined)
  await response?.body.dump()
  return response?.statusCode === 200
}
