/** An answer whose body may have been read, or be left unread. */
interface Refusable {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body?: { dump(): Promise<void> }
}

/** How patient to be. */
export interface Patience {
  /** half a second before the second attempt, doubled each time */
  readonly mostAttempts: number
  /** the longest wait that an engine may ask for, in milliseconds */
  readonly longestWait: number
  /** Waits before the request is repeated. Rejects if everything is ended. */
  readonly wait: (milliseconds: number) => Promise<void>
}

const firstWaitMilliseconds = 500

/**
 * Sends a request again while the engine is busy, after as long as it asks for (`retry-after`). Returns the last answer,
 * unread, and how often it was sent.
 */
export async function untilNotBusy<Answer extends Refusable>(
  send: () => Promise<Answer>,
  isBusy: (status: number) => boolean,
  { mostAttempts, longestWait, wait }: Patience,
): Promise<{ readonly answer: Answer; readonly attempts: number }> {
  for (let attempts = 1; ; attempts++) {
    const answer = await send()
    const asked = readRetryAfter(answer.headers['retry-after'], Date.now()) ?? 0
    const pause = Math.max(asked, firstWaitMilliseconds * 2 ** (attempts - 1))
    if (!isBusy(answer.status) || attempts === mostAttempts || pause > longestWait) return { answer, attempts }
    await answer.body?.dump()
    await wait(pause)
  }
}

/** Reads `retry-after`, seconds or a date, as milliseconds from now; undefined if there is none that can be read. */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = Number(header)
  const wait = Number.isNaN(seconds) ? Date.parse(header) - now : 1_000 * seconds
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
