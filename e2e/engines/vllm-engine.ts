import { delimiter, dirname, join } from 'node:path'
import { type EngineSpec, modelName } from './engine.ts'

const adapters = join(import.meta.dirname, '..', '..', 'engine-adapters')

// about twenty prompts: evictions are the rule, but not of what the next requests are about to find
const blocks = 1_200

const flags = [
  ['--dtype', 'float32'],
  ['--max-model-len', '8192'],
  '--enforce-eager',
  '--enable-prompt-tokens-details',
  '--disable-uvicorn-access-log',
].flat()

const connector = {
  kv_connector: 'RepriseConnector',
  kv_connector_module_path: 'reprise_vllm.connector',
  kv_role: 'kv_both',
}

/** vLLM's CPU build. */
export const vllmEngine: EngineSpec = {
  name: 'vLLM',
  kind: 'vllm',
  blockSize: 32,
  // the connector is found by its module's path
  prepare: () => Promise.resolve(),
  command: ({ installation, source, ports, callbackUrl }) => {
    // a host without a wildcard is one that vLLM connects to
    const events = {
      enable_kv_cache_events: true,
      publisher: 'zmq',
      endpoint: `tcp://*:${ports.events}`,
      replay_endpoint: `tcp://127.0.0.1:${ports.replay}`,
    }
    const place = ['--host', '127.0.0.1', '--port', String(ports.api), '--served-model-name', modelName]
    const cache = ['--block-size', String(vllmEngine.blockSize), '--num-gpu-blocks-override', String(blocks)]
    const reports =
      source === 'callbacks'
        ? ['--kv-transfer-config', JSON.stringify(connector)]
        : ['--kv-events-config', JSON.stringify(events)]
    return {
      file: join(dirname(installation.python), 'vllm'),
      args: ['serve', installation.model, ...place, ...cache, ...flags, ...reports],
      env: {
        HF_HUB_OFFLINE: '1',
        OMP_NUM_THREADS: '1',
        VLLM_CPU_KVCACHE_SPACE: '1',
        VLLM_CPU_OMP_THREADS_BIND: 'nobind',
        PYTHONPATH: [join(adapters, 'vllm', 'plugin'), join(adapters, 'python')].join(delimiter),
        ...(source === 'callbacks' ? { REPRISE_CALLBACK_URL: callbackUrl } : {}),
      },
    }
  },
}
