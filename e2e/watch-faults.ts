import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'

/**
 * Fails the tests of a file when something happens in their process that must not, however its peers behave: rejections
 * nobody handled, exceptions nobody caught, leaks of listeners.
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

/** Waits until a condition holds; the test's own time limit ends a wait that is in vain. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(2)
}
