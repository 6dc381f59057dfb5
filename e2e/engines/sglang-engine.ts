import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { delimiter, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { type EngineSpec, modelName, segmentsFolder } from './engine.ts'

const root = join(import.meta.dirname, '..', '..')
const adapters = join(root, 'engine-adapters')
// SGLang has no build for CPUs without AMX; this shim replaces one import of its generic code path
const shim = join(adapters, 'sglang', 'plugin', 'tests', 'engine', 'cpu_shim')

/** The options in which test servers differ. */
interface SglangOptions {
  readonly poolTokens: number
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** the settings of reuse, given the engine's own folder */
  readonly reuse?: (folder: string) => object
}

const flagsFor = (poolTokens: number): string[] =>
  [
    ['--device', 'cpu'],
    ['--attention-backend', 'torch_native'],
    ['--sampling-backend', 'pytorch'],
    ['--mem-fraction-static', '0.3'],
    ['--max-total-tokens', String(poolTokens)],
    ['--log-level-http', 'warning'],
    '--disable-overlap-schedule',
    '--enable-cache-report',
  ].flat()

const blockSize = 16
// all prompts of a batch are looked up before any is computed, so hits among them would be random
const onePrompt = ['--prefill-max-requests', '1']

/** SGLang on its generic code path, which needs none of its kernels. */
export const createSglangEngine = ({ poolTokens, env = {}, flags = onePrompt, reuse }: SglangOptions): EngineSpec => ({
  name: 'SGLang',
  kind: 'sglang',
  blockSize,
  prepare: async ({ python }, source, folder) => {
    if (source === 'callbacks') await installPlugin(python, folder)
  },
  command: ({ installation, source, ports, callbackUrl, folder }) => {
    const events = {
      publisher: 'zmq',
      endpoint: `tcp://127.0.0.1:${ports.events}`,
      bind: true,
      replay_endpoint: `tcp://127.0.0.1:${ports.replay}`,
    }
    const place = ['--host', '127.0.0.1', '--port', String(ports.api), '--served-model-name', modelName]
    const cache = ['--page-size', String(blockSize)]
    const reports =
      source === 'callbacks' ? ['--radix-cache-backend', 'reprise'] : ['--kv-events-config', JSON.stringify(events)]
    return {
      file: installation.python,
      args: [
        '-m',
        'sglang.launch_server',
        '--model-path',
        installation.model,
        ...place,
        ...cache,
        ...flagsFor(poolTokens),
        ...flags,
        ...reports,
      ],
      env: {
        HF_HUB_OFFLINE: '1',
        OMP_NUM_THREADS: '1',
        PYTHONPATH: [sitePackages(folder), shim, ...(reuse ? [join(root, 'kernels')] : [])].join(delimiter),
        ...(reuse ? { REPRISE_REUSE: JSON.stringify(reuse(folder)) } : {}),
        ...(source === 'callbacks' ? { REPRISE_CALLBACK_URL: callbackUrl } : {}),
        ...env,
      },
    }
  },
})

/** Has room for about twenty prompts: evictions are common, but rarely hit what a waiting request is about to find. */
export const sglangEngine: EngineSpec = createSglangEngine({ poolTokens: 40_000 })

/** Reuses at any position. */
export const reusingSglangEngine: EngineSpec = createReusingSglangEngine(() => ({ host_bytes: 256 * 1024 * 1024 }))

/** The same with host memory for only about six prompts and the rest on disk: the hardest case. */
export const spillingSglangEngine: EngineSpec = createReusingSglangEngine((folder) => ({
  host_bytes: 12 * 1024 * 1024,
  disk: join(folder, segmentsFolder),
}))

function createReusingSglangEngine(settingsFor: (folder: string) => object): EngineSpec {
  return createSglangEngine({
    poolTokens: 64_000,
    // by itself, SGLang would compute this model in float16
    flags: ['--dtype', 'float32'],
    // its small model is computed in so little time that nothing may be predicted to be sooner
    reuse: (folder) => ({ when: 'always', ...settingsFor(folder) }),
  })
}

/**
 * Installs the plugin as users do, because SGLang finds it by its entry point. Builds from a copy, because a build
 * leaves folders next to the sources.
 */
async function installPlugin(python: string, folder: string): Promise<void> {
  const copied = join(folder, 'engine-adapters')
  const beside = new Set(['tests', 'build', '__pycache__'])
  for (const part of ['python', join('sglang', 'plugin')]) {
    const filter = (path: string): boolean => !beside.has(path.split(sep).at(-1)!) && !path.endsWith('.egg-info')
    await cp(join(adapters, part), join(copied, part), { recursive: true, filter })
  }
  const quietly = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation']
  const target = ['--target', sitePackages(folder), join(copied, 'sglang', 'plugin')]
  await promisify(execFile)(python, [...quietly, ...target])
}

function sitePackages(folder: string): string {
  return join(folder, 'site-packages')
}
