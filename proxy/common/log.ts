import { type Logger, pino } from 'pino'
import { describeError } from './describe-error.ts'
import { LineWriter } from './line-writer.ts'

export type Log = Logger

/** One writer for stderr, shared by all logs. */
let stderr: LineWriter | undefined

/** Creates a log of JSON lines on stderr, never with any text of a prompt. */
export function createLog(level: string): Log {
  stderr ??= openStderr()
  return pino({ level, base: null, serializers: { error: describeError } }, stderr)
}

/** Resolves when everything logged so far is written, if it can be written at all. */
export async function logWritten(): Promise<void> {
  await stderr?.written()
}

function openStderr(): LineWriter {
  const writer = new LineWriter(2)
  // this first access makes Node set a pipe to non-blocking; errors of other writers must not end the process
  process.stderr.on('error', () => {})
  process.on('exit', () => writer.flush())
  return writer
}
