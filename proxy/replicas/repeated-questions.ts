import { getOrMake } from '#index/get-or-make.ts'

/**
 * Asks a target unless it was asked within `pause` milliseconds. Resolves when the question under way, if any, is answered.
 * `first`: after how many milliseconds a target is asked that is new.
 */
type AskAfter<T> = (pause: number, target: T, now: number, first?: number) => Promise<void>

/**
 * Returns what asks each of some targets something again and again, one question at a time. `ask` never rejects; its
 * signal aborts after `milliseconds`, or when `closing` does.
 */
export function repeatedly<T extends object>(
  ask: (target: T, signal: AbortSignal) => Promise<void>,
  milliseconds: number,
  closing?: AbortSignal,
): AskAfter<T> {
  const asked = new WeakMap<T, { at: number; asking: Promise<void> | undefined }>()
  const underWay = new Set<AbortController>()
  closing?.addEventListener('abort', () => underWay.forEach((late) => void late.abort()))
  const askInTime = async (target: T): Promise<void> => {
    const late = new AbortController()
    underWay.add(late)
    const timer = setTimeout(() => late.abort(), milliseconds).unref()
    await ask(target, late.signal)
    underWay.delete(late)
    clearTimeout(timer)
  }
  return (pause, target, now, first = 0) => {
    const own = getOrMake(asked, target, () => ({ at: now + first - pause, asking: undefined }))
    if (own.asking === undefined && now - own.at >= pause) {
      own.at = now
      own.asking = askInTime(target).then(() => {
        own.asking = undefined
      })
    }
    return own.asking ?? Promise.resolve()
  }
}
