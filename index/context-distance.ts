import type { Context } from './context-block.ts'

/** Weight of positional alignment in Equation 1; ContextPilot uses 0.001 in all its experiments (§7). */
export const defaultAlpha = 0.001

/**
 * Distance between two contexts (ContextPilot, Equation 1): the share of blocks they do not have in common, plus
 * `alpha` times the mean difference of the positions of those they have. 1 when nothing is shared.
 * A block that occurs twice in a context counts where it stands first.
 */
export function contextDistance(a: Context, b: Context, alpha: number = defaultAlpha): number {
  const positions = new Map<string, number>()
  for (let i = b.length - 1; i >= 0; i--) positions.set(b[i]!, i)
  const seen = new Set<string>()
  let shared = 0
  let displacement = 0
  for (let i = 0; i < a.length; i++) {
    const id = a[i]!
    const position = positions.get(id)
    if (position === undefined || seen.has(id)) continue
    seen.add(id)
    shared += 1
    displacement += Math.abs(i - position)
  }
  if (shared === 0) return 1
  return 1 - shared / Math.max(a.length, b.length) + (alpha * displacement) / shared
}
