/** Eviction policies for the leaves of a prefix cache. Engines use lru. */
export const evictionNames = ['lru', 'lfu', 'fifo', '2q', 's3fifo', 'hotprefix', 'hotprefix+', 'guarded'] as const
export type EvictionName = (typeof evictionNames)[number]
