import { type Logger, pino } from 'pino'
import { describeError } from './telemetry/describe-error.ts'
import { LineWriter } from './telemetry/line-writer.ts'

export type Log = Logger

/** There is one stderr, however many logs are written to it. */
let stderr: LineWriter | undefined

/** JSON lines on stderr; never any text of a prompt. */
export function createLog(level: string): Log {
  stderr ??= openStderr()
  return pino({ level, base: null, serializers: { error: describeError } }, stderr)
}

/** Resolves when what was logged is written, as far as it can be. */
export async function logWritten(): Promise<void> {
  await stderr?.written()
}

function openStderr(): LineWriter {
  const writer = new LineWriter(2)
  // Node makes a pipe non-blocking when it is first asked for, and whatever else writes there must not end the process
  process.stderr.on('error', () => {})
  process.on('exit', () => writer.flush())
  return writer
}
