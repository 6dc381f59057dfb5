import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type EngineSpec, modelName, segmentsFolder } from './engine.ts'

const root = join(import.meta.dirname, '..', '..')
const plugin = ['engine-adapters/vllm/plugin', 'engine-adapters/python', 'kernels'].map((path) => join(root, path))

/** such as a store's client (vllm-store.engines.test.ts) */
const more = process.env.PYTHONPATH ? [process.env.PYTHONPATH] : []

// about thirty prompts: evictions are common, but rarely hit what a waiting request is about to find
const usualPoolTokens = 64_000
const mostPositions = 8_192

const blockSize = 32

/** What a token of the test model takes in a cache: keys and values of two layers, 64 numbers each in float32. */
const testModelTokenBytes = 1_024

const flags = [
  ['--dtype', 'float32'],
  '--enforce-eager',
  '--enable-prompt-tokens-details',
  '--disable-uvicorn-access-log',
].flat()

/** Subfolder of an engine's own folder for the metadata that an installed plugin has in site-packages. */
const installed = 'installed'

const connector = {
  kv_connector: 'RepriseConnector',
  kv_connector_module_path: 'reprise_vllm.connector',
  kv_role: 'kv_both',
}

/** A host tier for more than the device has. vLLM tells of its blocks in its events, also of those that it has lost. */
const offloading = {
  kv_connector: 'OffloadingConnector',
  kv_role: 'kv_both',
  kv_connector_extra_config: {
    cpu_bytes_to_use: 96 * 1024 * 1024,
    spec_name: 'DoubleCopiesSpec',
    spec_module_path: 'offloading_copies_double',
  },
}

/** The settings for tests of reuse at any position. */
// its small model is computed in so little time that nothing may be predicted to be sooner
const reuse = { ratio: 0.15, host_bytes: 256 * 1024 * 1024, when: 'always' }

/** vLLM's CPU build. Fewer prompts than those after a fault have room, so that some of them are evicted. */
export const vllmEngine: EngineSpec = vllmWith(() => connector, { poolTokens: 48_000 })

/** The same, with reuse at any position. */
export const reusingVllmEngine: EngineSpec = vllmWith(() => withReuse(reuse))

/**
 * The same with host memory for only about six prompts, the rest on disk, and rows computed in slices: the hardest
 * case.
 */
export const spillingVllmEngine: EngineSpec = vllmWith((folder) =>
  withReuse({ ...reuse, host_bytes: 12 * 1024 * 1024, rows_per_step: 512, disk: join(folder, segmentsFolder) }),
)

/** The same as `reusingVllmEngine`, with a store that several engines share. */
export function sharingVllmEngine(remote: string): EngineSpec {
  return vllmWith(() => withReuse({ ...reuse, remote }))
}

/** vLLM with page selection; it finds the plugin by its entry points, as in a real installation. */
export const selectingVllmEngine: EngineSpec = {
  ...vllmWith(() => withConfig({ pages: { least_tokens: 256 } }), { packages: [installed] }),
  prepare: (_installation, _source, folder) => Promise.resolve(writeEntryPoints(join(folder, installed))),
}

/** A host tier of so many tokens; with `admission`, the plugin decides what is copied there and what is evicted from it. */
export interface HostTier {
  readonly tokens: number
  readonly admission?: number
}

/** Creates a vLLM with a cache of `poolTokens`; with `eviction`, the plugin's queue decides what to evict. */
export function createSmallVllmEngine(options: {
  readonly poolTokens: number
  readonly eviction?: 'hotprefix'
  readonly host?: HostTier
}): EngineSpec {
  const { poolTokens, eviction, host } = options
  const own = eviction ? withConfig({ eviction }) : connector
  if (!host) return vllmWith(() => own, { poolTokens })
  const connectors = [own, withHost(host)]
  const both = { kv_connector: 'MultiConnector', kv_role: 'kv_both', kv_connector_extra_config: { connectors } }
  return vllmWith(() => both, { poolTokens })
}

function withHost({ tokens, admission }: HostTier): object {
  const { kv_connector_extra_config: stock } = offloading
  const hot = admission === undefined ? {} : { spec_name: 'HotDoubleCopiesSpec', admission_frequency: admission }
  const extra = { ...stock, cpu_bytes_to_use: tokens * testModelTokenBytes, ...hot }
  return { ...offloading, kv_connector_extra_config: extra }
}

function withReuse(reuse: object): object {
  return withConfig({ reuse })
}

function withConfig(config: object): object {
  return { ...connector, kv_connector_extra_config: config }
}

interface VllmOptions {
  readonly packages?: readonly string[]
  readonly poolTokens?: number
}

function vllmWith(
  toConnector: (folder: string) => object,
  { packages = [], poolTokens = usualPoolTokens }: VllmOptions = {},
): EngineSpec {
  return {
    name: 'vLLM',
    kind: 'vllm',
    offloads: 'kv-events',
    blockSize,
    // vLLM finds the connector by its module path
    prepare: () => Promise.resolve(),
    command: ({ installation, source, ports, callbackUrl, folder }) => {
      // with a host other than the wildcard, vLLM would connect instead of bind
      const events = {
        enable_kv_cache_events: true,
        publisher: 'zmq',
        endpoint: `tcp://*:${ports.events}`,
        replay_endpoint: `tcp://127.0.0.1:${ports.replay}`,
      }
      const place = ['--host', '127.0.0.1', '--port', String(ports.api), '--served-model-name', modelName]
      const positions = Math.min(mostPositions, poolTokens / 2)
      const cache = ['--block-size', String(blockSize), '--num-gpu-blocks-override', String(poolTokens / blockSize)]
      const reports =
        source === 'callbacks'
          ? ['--kv-transfer-config', JSON.stringify(toConnector(folder))]
          : ['--kv-events-config', JSON.stringify(events), '--kv-transfer-config', JSON.stringify(offloading)]
      return {
        file: join(dirname(installation.python), 'vllm'),
        args: [
          'serve',
          installation.model,
          ...place,
          ...cache,
          '--max-model-len',
          String(positions),
          ...flags,
          ...reports,
        ],
        env: {
          HF_HUB_OFFLINE: '1',
          OMP_NUM_THREADS: '1',
          VLLM_CPU_KVCACHE_SPACE: '1',
          VLLM_CPU_OMP_THREADS_BIND: 'nobind',
          PYTHONPATH: [...plugin, import.meta.dirname, ...packages.map((path) => join(folder, path)), ...more].join(
            delimiter,
          ),
          ...(source === 'callbacks' ? { REPRISE_CALLBACK_URL: callbackUrl } : {}),
        },
      }
    },
  }
}

/** Writes metadata with the plugin's entry points, copied from its pyproject.toml. */
function writeEntryPoints(folder: string): void {
  const project = readFileSync(join(plugin[0]!, 'pyproject.toml'), 'utf8')
  const sections = [...project.matchAll(/^\[project\.entry-points\."(.+)"\]\n((?:.+\n)+)/gm)]
  const entryPoints = sections.map(([, group, lines]) => `[${group}]\n${lines!.replaceAll('"', '')}`)
  const info = join(folder, 'reprise_vllm-0.1.0.dist-info')
  mkdirSync(info, { recursive: true })
  writeFileSync(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: reprise-vllm\nVersion: 0.1.0\n')
  writeFileSync(join(info, 'entry_points.txt'), entryPoints.join('\n'))
}
