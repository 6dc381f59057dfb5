import { setTimeout as pause } from 'node:timers/promises'
import type { ReplicaId } from '#index/context-block.ts'
import type { Exchange } from '../call/call.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import { UnreachableError } from '../http/engine-failures.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaChoice } from '../replicas/replica-set.ts'
import { decideRetry } from '../replicas/retry-policy.ts'
import type { Pipeline } from './pipeline.ts'

/** How and where a request is sent. */
interface Sending<T> {
  readonly first: T
  /** Sends the request. Rejects with an UnreachableError if no engine has begun to answer. */
  send(chosen: T): Promise<ForwardOutcome>
  /** Chooses again, without the given replicas. */
  choose(excluding: ReadonlySet<ReplicaId> | undefined): T
}

/** Sends a request, and retries as long as no engine can have started on it. */
export async function untilReached<T extends { readonly replica: Replica }>(
  { replicas, telemetry }: Pick<Pipeline, 'telemetry'> & { readonly replicas: Pick<ReplicaChoice, 'hasOther'> },
  { clientLeft }: Pick<Exchange, 'clientLeft'>,
  { first, send, choose }: Sending<T>,
): Promise<ForwardOutcome> {
  let chosen = first
  const tried = new Set<ReplicaId>()
  for (let made = 1; ; made++) {
    try {
      return await send(chosen)
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      const hasRepeated = tried.has(chosen.replica.id)
      tried.add(chosen.replica.id)
      const hasOther = replicas.hasOther(tried)
      const retry = decideRetry({ error, wasSent: error.wasSent }, { made, hasRepeated, hasOther })
      if (!retry) throw error
      telemetry.metrics.retries.inc({ reason: retry.on })
      await pause(retry.pauseMilliseconds, undefined, { signal: clientLeft.signal })
      chosen = choose(retry.on === 'other' ? tried : undefined)
    }
  }
}
