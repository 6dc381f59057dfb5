import type { EngineKind } from './http/engine-error.ts'

/** What the emulator is like where nothing else is said; apart from it, so that naming it does not load it. */
export const emulatorDefaults: {
  kind: EngineKind
  capacityTokens: number
  /** vLLM's */
  blockSize: number
  sglangBlockSize: number
  prefillTokensPerSecond: number
  maxModelTokens: number
  hostTokens: number
} = {
  kind: 'vllm',
  capacityTokens: 500_000,
  blockSize: 16,
  sglangBlockSize: 1,
  prefillTokensPerSecond: 20_000,
  maxModelTokens: 131_072,
  hostTokens: 2_000_000,
}
