import { destination, type Logger, pino } from 'pino'
import { describeError } from './telemetry/describe-error.ts'

export type Log = Logger

/** What waits to be written while nobody reads; lines beyond it are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024
/** How long the last lines are tried to be written when the process ends. */
const exitMilliseconds = 250

/**
 * JSON lines on stderr; never any text of a prompt. A stderr that cannot be written to (full, closed, read by nobody)
 * costs lines and nothing else.
 */
export function createLog(level: string): Log {
  // Node makes a pipe non-blocking when it is first asked for, and whatever else writes there must not end the process
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore)
  let exitAt = Number.POSITIVE_INFINITY
  const stderr = destination({
    dest: 2,
    sync: false,
    maxLength: maxWaitingBytes,
    retryEAGAIN: () => Date.now() < exitAt,
  })
  // what could not be written is tried again with the next line
  stderr.on('error', ignore)
  const flush = stderr.flushSync.bind(stderr)
  stderr.flushSync = () => {
    exitAt = Date.now() + exitMilliseconds
    try {
      flush()
    } catch {
      // the process is ending, and there is nowhere left to say it
    }
  }
  return pino({ level, base: null, serializers: { error: describeError } }, stderr)
}

function ignore(): void {}
