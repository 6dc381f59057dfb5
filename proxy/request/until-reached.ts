import { setTimeout as pause } from 'node:timers/promises'
import type { ReplicaId } from '#index/context-block.ts'
import { type ForwardOutcome, UnreachableError } from '../http/forward.ts'
import type { Replica } from '../replicas/replica.ts'
import { decideRetry } from '../replicas/retry-policy.ts'
import type { Exchange, Pipeline } from './pipeline.ts'

/** How a request is sent, and where to. */
export interface Sending<T> {
  readonly first: T
  /** Sends it; rejects with an UnreachableError while no engine has begun to answer. */
  send(chosen: T): Promise<ForwardOutcome>
  /** Chooses anew, without the replicas that are given. */
  choose(excluding: ReadonlySet<ReplicaId> | undefined): T
}

/** Sends a request, and again where no engine can have begun with it. */
export async function untilReached<T extends { readonly replica: Replica }>(
  { replicas, telemetry }: Pick<Pipeline, 'replicas' | 'telemetry'>,
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
      // no engine has begun to answer: its client has had comments of ours at most
      const failed = { error, wasSent: error.wasSent, isAnswered: false, isRepeatable: true }
      const retry = decideRetry(failed, { made, hasRepeated, hasOther })
      if (!retry) throw error
      telemetry.metrics.retries.inc({ reason: retry.on })
      await pause(retry.pauseMilliseconds, undefined, { signal: clientLeft })
      chosen = choose(retry.on === 'other' ? tried : undefined)
    }
  }
}
