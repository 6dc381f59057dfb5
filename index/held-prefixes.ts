import type { ScopeId } from './context-block.ts'

/** How many tokens a character of one prompt took; undefined until the engine has counted. One object a request. */
export interface TokenDensity {
  tokensPerCharacter: number | undefined
}

/** A prefix of several holders. Those of a single one, which most are, need no object of their own. */
interface Shared {
  holders: number
  density: TokenDensity
}

/** The prefixes of prompts that are held, by any number of requests. */
export class HeldPrefixes {
  readonly #held = new Map<ScopeId, TokenDensity | Shared>()

  get size(): number {
    return this.#held.size
  }

  /** One more holds a prefix; true when it is the first. */
  add(prefix: ScopeId, density: TokenDensity): boolean {
    const held = this.#held.get(prefix)
    if (!held) this.#held.set(prefix, density)
    else if (!isShared(held)) this.#held.set(prefix, { holders: 2, density: known(held, density) })
    else {
      held.holders += 1
      held.density = known(held.density, density)
    }
    return held === undefined
  }

  /** One holder less; true when it was the last. */
  remove(prefix: ScopeId): boolean {
    const held = this.#held.get(prefix)!
    if (isShared(held) && --held.holders > 0) return false
    return this.#held.delete(prefix)
  }

  /** The density of one that has held a prefix, of one that was counted if there is one; undefined when nobody holds it. */
  find(prefix: ScopeId): TokenDensity | undefined {
    const held = this.#held.get(prefix)
    return held && isShared(held) ? held.density : held
  }

  /** Whether several hold a prefix. */
  isShared(prefix: ScopeId): boolean {
    const held = this.#held.get(prefix)
    return held !== undefined && isShared(held) && held.holders > 1
  }

  clear(): void {
    this.#held.clear()
  }
}

function isShared(held: TokenDensity | Shared): held is Shared {
  return 'holders' in held
}

function known(first: TokenDensity, second: TokenDensity): TokenDensity {
  return first.tokensPerCharacter === undefined ? second : first
}
