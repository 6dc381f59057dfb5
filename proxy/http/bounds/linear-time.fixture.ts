import { expect } from 'vitest'

/** Other work on the machine can only add time, so the fastest of several runs is taken. */
const leastRuns = 2
const mostRuns = 8
/** Quadratic work takes sixteen times as long for four times the input, linear work four times. */
const mostTimes = 8

/** Expects that four times the input takes about four times as long. A busy machine gets more tries. */
export function expectLinear(work: (size: number) => unknown, size: number): void {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let run = 1; run <= mostRuns; run++) {
    small = Math.min(
      small,
      time(() => work(size)),
    )
    large = Math.min(
      large,
      time(() => work(4 * size)),
    )
    if (run >= leastRuns && large <= mostTimes * Math.max(1, small)) return
  }
  expect(large / small).toBeLessThanOrEqual(mostTimes)
}

/** Milliseconds of this process's own work, so that others on the machine count as little as possible. */
function time(run: () => unknown): number {
  const begun = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}
