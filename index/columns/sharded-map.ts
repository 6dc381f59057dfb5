/**
 * A map that grows in small steps. A single map of a million names blocks for a quarter of a second when it grows. So a
 * large map is sharded into several, by a hash of the last characters of each name.
 */
export class ShardedMap<Key extends string, Value> {
  #shards: Map<Key, Value>[] = [new Map()]
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: Key): Value | undefined {
    return this.#shardOf(key).get(key)
  }

  has(key: Key): boolean {
    return this.#shardOf(key).has(key)
  }

  set(key: Key, value: Value): void {
    const shard = this.#shardOf(key)
    const before = shard.size
    shard.set(key, value)
    this.#size += shard.size - before
    if (this.#size > mostInOne && this.#shards.length === 1) this.#split()
  }

  /** Returns whether the key was there. */
  delete(key: Key): boolean {
    const isGone = this.#shardOf(key).delete(key)
    if (isGone) this.#size -= 1
    return isGone
  }

  clear(): void {
    this.#shards = [new Map()]
    this.#size = 0
  }

  /** Yields all keys in no particular order; keys added during the iteration may be left out. */
  *keys(): Generator<Key> {
    for (const shard of this.#shards) yield* shard.keys()
  }

  #shardOf(key: Key): Map<Key, Value> {
    return this.#shards.length === 1 ? this.#shards[0]! : this.#shards[hashEnd(key) % shardCount]!
  }

  #split(): void {
    const [whole] = this.#shards
    this.#shards = Array.from({ length: shardCount }, () => new Map())
    for (const [key, value] of whole!) this.#shardOf(key).set(key, value)
  }
}

const shardCount = 16
const mostInOne = 1 << 13
const hashed = 8

function hashEnd(key: string): number {
  let hash = 0
  for (let i = Math.max(0, key.length - hashed); i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  }
  return (hash ^ (hash >>> 15)) >>> 0
}
