import { SingleBar } from 'cli-progress'

/** Shows the progress of a replay. */
export interface ReplayProgress {
  begin(label: string): void
  advance(): void
  stop(): void
}

const silent: ReplayProgress = { begin: () => undefined, advance: () => undefined, stop: () => undefined }

/** Shows a progress bar on stderr if that is a terminal; otherwise nothing. */
export function createProgress(total: number): ReplayProgress {
  if (!process.stderr.isTTY) return silent
  const format = '{label} {bar} {value}/{total} | {duration_formatted} | ETA {eta_formatted}'
  const bar = new SingleBar({ format, clearOnComplete: true, stream: process.stderr })
  bar.start(total, 0, { label: 'reading' })
  return {
    begin: (label) => bar.update({ label }),
    advance: () => bar.increment(),
    stop: () => bar.stop(),
  }
}
