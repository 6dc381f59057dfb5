/** Numbers from a seed (mulberry32), and what streams draw with them. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** An integer from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffled(items).slice(0, count)
  }

  shuffled<T>(items: readonly T[]): T[] {
    const own = [...items]
    for (let i = own.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      ;[own[i], own[j]] = [own[j]!, own[i]!]
    }
    return own
  }

  /** `count` different items, the first ones of `items` most often (weights 1/2, 1/3, …), in the order drawn. */
  popular<T>(items: readonly T[], count: number): T[] {
    const total = items.reduce((sum, _, i) => sum + 1 / (i + 2), 0)
    const out = new Set<T>()
    while (out.size < Math.min(count, items.length)) {
      let left = this.next() * total
      const at = items.findIndex((_, i) => {
        left -= 1 / (i + 2)
        return left < 0
      })
      out.add(items[Math.max(0, at)]!)
    }
    return [...out]
  }

  /** Normally distributed about 0 with deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }
}

/** A number from a text that has no order. */
export function numberOf(text: string, end: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 15
  return ((Math.imul(hash, 0x2c1b3c6d) >>> 0) % 1_000_003) % end
}
