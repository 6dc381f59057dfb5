import type { IncomingMessage } from 'node:http'
import type { Log } from '../common/log.ts'
import { clientAddress } from '../http/forwarded-headers.ts'

/** A flood of refused requests must not fill the disk: beyond this many lines a minute, they are counted. */
const refusalsPerMinute = 10
const minute = 60_000
/** Longer paths are cut off here. */
const longestPath = 200

/** Logs the requests to the admin listener that were refused, and those that changed something. */
export class AdminLog {
  readonly #log: Pick<Log, 'info' | 'warn'>
  #refusals = 0

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log
  }

  /** A request was refused because of who sent it. */
  refused(request: IncomingMessage, status: number): void {
    if (this.#refusals === 0) setTimeout(this.#endMinute, minute).unref()
    this.#refusals += 1
    if (this.#refusals > refusalsPerMinute) return
    this.#log.warn({ ...describe(request), status }, 'admin request refused')
  }

  changed(request: IncomingMessage, done: object): void {
    this.#log.info({ ...describe(request), ...done }, 'admin request')
  }

  readonly #endMinute = (): void => {
    const requests = this.#refusals - refusalsPerMinute
    this.#refusals = 0
    if (requests > 0) this.#log.warn({ requests }, 'more admin requests were refused')
  }
}

function describe({ socket, method, url }: IncomingMessage): object {
  return { client: clientAddress(socket), method, path: url?.replace(/\?.*/s, '').slice(0, longestPath) }
}
