import { destination, type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on stderr; never any text of a prompt. */
export function createLog(level: string): Log {
  return pino({ level, base: null }, destination({ dest: 2, sync: false }))
}
