import type { HostFigures } from './host-tier.ts'

/** An engine's prefix cache as a replay needs it: one request after the other, prompts only. */
export interface SimulatedCache {
  /**
   * Runs a request; returns its cached tokens. Of a prompt that is larger than the cache, the front stays. The prompt is
   * the first `promptTokens` of the tokens, the rest its answer, which is kept, too.
   */
  serve(request: number, salt: string, tokens: Uint32Array, promptTokens?: number): number
  /** Whether a prompt of so many tokens can be cached as a whole. */
  holds(promptTokens: number): boolean
  /** The requests whose longest cached prefix has changed since the last call, and its length now. */
  takeChanges(): ReadonlyMap<number, number>
  /** What was moved between the device and its host so far; undefined without a host. */
  readonly hostFigures?: HostFigures | undefined
}
