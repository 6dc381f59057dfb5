import type { SimulatedCache } from '#index/tree-cache/simulated-cache.ts'
import type { HostFigures } from './host-tier.ts'

/** A cache that may have host memory behind it. */
export interface HostedCache extends SimulatedCache {
  /** transfers between the device and its host so far; undefined without a host */
  readonly hostFigures?: HostFigures | undefined
}
