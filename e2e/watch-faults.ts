import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'

/**
 * Fails the tests of a file if their process has unhandled rejections, uncaught exceptions or listener leaks, which
 * must not happen however peers behave.
 */
export function failOnFaults(): void {
  const seen: unknown[] = []
  const onFault = (fault: unknown): void => {
    seen.push(fault)
  }
  const onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') seen.push(warning)
  }
  beforeAll(() => {
    process.on('unhandledRejection', onFault)
    process.on('uncaughtException', onFault)
    process.on('warning', onWarning)
  })
  afterAll(() => {
    process.off('unhandledRejection', onFault)
    process.off('uncaughtException', onFault)
    process.off('warning', onWarning)
    expect(seen).toEqual([])
  })
}

/** Waits until a condition holds; the test's own timeout ends a futile wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(2)
}
