import progress from 'cli-progress'

/** Shows the progress of a replay, or of other work that is counted. */
export interface ReplayProgress {
  /** `done`: how many are done already */
  begin(label: string, done?: number): void
  advance(): void
  stop(): void
}

const silent: ReplayProgress = { begin: () => undefined, advance: () => undefined, stop: () => undefined }

/** How often a line is written where there is no terminal. */
const lineMilliseconds = 10_000

/** Shows a progress bar on stderr if that is a terminal; otherwise nothing, or, if `isAlways`, now and then a line. */
export function createProgress(total: number, { isAlways = false }: { isAlways?: boolean } = {}): ReplayProgress {
  if (!process.stderr.isTTY && !isAlways) return silent
  const format = '{label} {bar} {value}/{total} | {duration_formatted} | ETA {eta_formatted}'
  const lines = { noTTYOutput: isAlways, notTTYSchedule: lineMilliseconds }
  // the library has words for times that it does not know, and cuts them off
  const formatTime: typeof progress.Format.TimeFormat = (seconds, ...rest) =>
    Number.isFinite(seconds) ? progress.Format.TimeFormat(seconds, ...rest) : 'unknown'
  const bar = new progress.SingleBar({ format, formatTime, clearOnComplete: true, stream: process.stderr, ...lines })
  bar.start(total, 0, { label: 'reading' })
  return {
    begin: (label, done) => (done === undefined ? bar.update({ label }) : bar.update(done, { label })),
    advance: () => bar.increment(),
    stop: () => bar.stop(),
  }
}
