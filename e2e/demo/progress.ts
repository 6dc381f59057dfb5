import { SingleBar } from 'cli-progress'

/** Shows the progress of a run, up to the total it was created with. */
export interface Progress {
  advance(): void
  stop(): void
}

/** Shows a bar on a terminal, else a line per tenth of the total; on stderr, so that stdout holds only the result. */
export function createProgress(label: string, total: number): Progress {
  return process.stderr.isTTY ? createBar(label, total) : createLines(label, total)
}

function createBar(label: string, total: number): Progress {
  const bar = new SingleBar({ format: `${label} {bar} {value}/{total} | {duration_formatted} | ETA {eta_formatted}` })
  bar.start(total, 0)
  return { advance: () => bar.increment(), stop: () => bar.stop() }
}

function createLines(label: string, total: number): Progress {
  let done = 0
  const advance = (): void => {
    const tenth = Math.floor((10 * done) / total)
    done += 1
    if (Math.floor((10 * done) / total) > tenth) process.stderr.write(`${label}: ${done} of ${total}\n`)
  }
  return { advance, stop: () => undefined }
}
