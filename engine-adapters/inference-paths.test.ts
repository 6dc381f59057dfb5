import { expect, test } from 'vitest'
import { adapterFor } from './adapter-for.ts'
import { engineKinds } from './engine-adapter.ts'
import { matchesPath } from './inference-paths.ts'

const inference = ['/v1/chat/completions', '/v1/embeddings', '/v1/models', '/v1/models/meta%2F', '/v1/responses/resp_1']

test.each(engineKinds)('%s answers what applications ask', (kind) => {
  const answered = inference.filter((path) => adapterFor(kind).isInference(path))
  expect(answered).toEqual(inference.filter((path) => !path.includes('%')))
})

// the routes of vLLM 0.32 and SGLang 0.5.23 that affect other users
const control = [
  '/reset_prefix_cache',
  '/reset_mm_cache',
  '/metrics',
  '/load',
  '/sleep',
  '/wake_up',
  '/is_sleeping',
  '/collective_rpc',
  '/server_info',
  '/v1/load_lora_adapter',
  '/v1/unload_lora_adapter',
  '/start_profile',
  '/stop_profile',
  '/scale_elastic_ep',
  '/abort_requests',
  '/flush_cache',
  '/abort_request',
  '/update_weights_from_disk',
  '/update_weights_from_tensor',
  '/get_weights_by_name',
  '/release_memory_occupation',
  '/resume_memory_occupation',
  '/pause_generation',
  '/continue_generation',
  '/get_server_info',
  '/get_load',
  '/set_internal_state',
  '/load_lora_adapter',
  '/unload_lora_adapter',
  '/open_session',
  '/close_session',
  '/hicache/storage-backend',
  '/docs',
  '/openapi.json',
  '/v1/models/../../metrics',
  '/v1/models/..%2f..%2fmetrics',
  '//v1/models',
  '/v1/models/',
  '/V1/models',
  '/v1/responses/..',
  '/',
  '',
]

test.each(engineKinds)('%s is controlled by nobody who has a key alone', (kind) => {
  expect(control.filter((path) => adapterFor(kind).isInference(path))).toEqual([])
})

test('a star stands for what is left of a plain path', () => {
  expect(
    ['/a/b', '/a/b/c', '/a/', '/a', '/a/../b', '/a/b/..', '/a/%2e', '/a/b//c'].map((path) => matchesPath('/a/*', path)),
  ).toEqual([true, true, false, false, false, false, false, false])
})
