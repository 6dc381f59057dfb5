/** Ways to choose which leaves of a prefix cache go; lru is what engines do. */
export const evictionNames = ['lru', 'lfu', 'fifo', '2q', 's3fifo', 'hotprefix', 'hotprefix+', 'guarded'] as const
export type EvictionName = (typeof evictionNames)[number]
