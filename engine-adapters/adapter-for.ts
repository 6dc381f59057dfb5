import type { EngineAdapter, EngineKind } from './engine-adapter.ts'
import { openaiAdapter } from './openai/adapter.ts'
import { sglangAdapter } from './sglang/adapter.ts'
import { vllmAdapter } from './vllm/adapter.ts'

const adapters: Record<EngineKind, EngineAdapter> = {
  vllm: vllmAdapter,
  sglang: sglangAdapter,
  openai: openaiAdapter,
}

/** The adapter for a kind of engine. */
export function adapterFor(kind: EngineKind): EngineAdapter {
  return adapters[kind]
}
