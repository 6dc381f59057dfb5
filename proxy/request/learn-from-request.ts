import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { holdsChunks, readChunkInputs } from '../chunks/read-chunk-inputs.ts'
import { GatheredBytes } from '../common/gathered-bytes.ts'
import { scanBody } from '../http/bounds/scan-body.ts'
import { lightBytes } from '../http/bounds/work-limits.ts'
import { isTooLarge } from '../http/receive/read-received.ts'
import type { Pipeline } from './pipeline.ts'

/** Larger requests are not learned from, since a copy of each is kept while it passes. */
const largestBody = 8 * 1024 * 1024

interface PassingRequest {
  /** Keeps a copy of its body, up to a limit, and learns from that once it has passed. */
  follow(body: Readable): void
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
  const follow = (body: Readable): void => {
    if (encoding !== 'identity') {
      ignore('encoded')
      return
    }
    const kept = new GatheredBytes()
    const keep = (chunk: Buffer): void => {
      kept.add(chunk)
      if (kept.length <= largestBody) return
      body.off('data', keep).off('end', finish)
      kept.take()
      ignore('too_large')
    }
    // let the last bytes go out first
    const finish = (): void => {
      setImmediate(() => void learn(kept.take()))
    }
    body.on('data', keep).on('end', finish)
  }
  return { follow, end: () => lesson.end() }
}

/** Waits until a large body may be parsed; returns false if that would hold up other requests. */
async function mayBeRead(
  { heavyTurns, settings }: Pick<Pipeline, 'heavyTurns' | 'settings'>,
  bytes: Buffer,
): Promise<boolean> {
  const scan = await scanBody(bytes, new Set(['input']), heavyTurns)
  await heavyTurns.take()
  return !isTooLarge(scan, settings().workLimits)
}
