import type { EngineKind } from './http/engine-error.ts'

/** The emulator's defaults, in a separate module so that using them does not load the emulator. */
export const emulatorDefaults = {
  kind: 'vllm' as EngineKind,
  capacityTokens: 500_000,
  /** vLLM's */
  blockSize: 16,
  sglangBlockSize: 1,
  prefillTokensPerSecond: 20_000,
  maxModelTokens: 131_072,
}
