import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { holdsChunks, readChunkInputs } from '../chunks/read-chunk-inputs.ts'
import { scanBody } from '../http/bounds/scan-body.ts'
import { lightBytes } from '../http/bounds/work-limits.ts'
import { isTooLarge } from '../http/receive/read-within-limits.ts'
import type { Pipeline } from './pipeline.ts'

/** Larger requests are not learned from, since a copy of each is kept while it passes. */
const largestBody = 8 * 1024 * 1024

/** A request that is learned from while it passes. */
export interface PassingRequest {
  /** Creates a stream that passes a body on and keeps a copy of it, up to a limit. */
  readonly tee: () => Transform
  /** Call when the request is over. */
  end(): void
}

/**
 * Learns the chunks of a passing request; returns undefined if nothing can be learned from it. Bytes are passed on
 * before they are looked at. Anything wrong with them, or with us, is counted or logged and has no other effect.
 */
export function learnFromRequest(
  pipeline: Pick<Pipeline, 'chunks' | 'settings' | 'telemetry' | 'heavyTurns' | 'log'>,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  tenant: string,
): PassingRequest | undefined {
  const { chunks, settings, telemetry, log } = pipeline
  if (!settings().learn || chunks.capacity === 0 || !holdsChunks(method, url)) return undefined
  const { metrics } = telemetry
  const ignore = (reason: string): void => metrics.chunksIgnored.inc({ reason })
  const lesson = chunks.begin(tenant)
  const learn = async (bytes: Buffer): Promise<void> => {
    try {
      if (bytes.length > lightBytes && !(await mayBeRead(pipeline, bytes))) return ignore('too_large')
      const inputs = readChunkInputs(url, JSON.parse(bytes.toString()))
      if (inputs) await lesson.learn(inputs)
      else ignore('unreadable')
    } catch (error) {
      // refusing invalid JSON is up to the engine
      if (error instanceof SyntaxError) return ignore('unreadable')
      metrics.failOpen.inc({ reason: 'chunks' })
      log.error({ error }, 'chunks were not learned because of a fault of ours')
    }
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const tee = (): Transform => {
    let kept: Buffer[] | undefined = encoding === 'identity' ? [] : undefined
    let size = 0
    if (!kept) ignore('encoded')
    return new Transform({
      transform: (bytes: Buffer, _, pass) => {
        pass(null, bytes)
        size += bytes.length
        if (kept && size > largestBody) {
          kept = undefined
          ignore('too_large')
        }
        kept?.push(bytes)
      },
      flush: (pass) => {
        pass()
        const whole = kept
        kept = undefined
        // let the last bytes go out first
        if (whole) setImmediate(() => void learn(Buffer.concat(whole)))
      },
    })
  }
  return { tee, end: () => lesson.end() }
}

/** Waits until a large body may be parsed; returns false if that would hold up other requests. */
async function mayBeRead(
  { heavyTurns, settings }: Pick<Pipeline, 'heavyTurns' | 'settings'>,
  bytes: Buffer,
): Promise<boolean> {
  const turn = (): Promise<void> => heavyTurns.take()
  const scan = await scanBody(bytes, new Set(['input']), turn)
  await turn()
  return !isTooLarge(bytes.length, scan, settings().workLimits)
}
