import { setTimeout as delay } from 'node:timers/promises'

/** What must not happen in a process, however its peers behave. */
export interface FaultWatch {
  /** rejections nobody handled, exceptions nobody caught, and leaks of listeners, since the watch began */
  readonly seen: readonly unknown[]
  stop(): void
}

/** Begins to collect what nobody handled in this process. */
export function watchFaults(): FaultWatch {
  const seen: unknown[] = []
  const onFault = (fault: unknown): void => {
    seen.push(fault)
  }
  const onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') seen.push(warning)
  }
  process.on('unhandledRejection', onFault)
  process.on('uncaughtException', onFault)
  process.on('warning', onWarning)
  return {
    seen,
    stop: () => {
      process.off('unhandledRejection', onFault)
      process.off('uncaughtException', onFault)
      process.off('warning', onWarning)
    },
  }
}

/** Waits until a condition holds; the test's own time limit ends a wait that is in vain. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(2)
}
