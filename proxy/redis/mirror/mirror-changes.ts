import type { RequestId } from '#index/context-block.ts'
import type { ReplicaCache } from '../../replicas/mirror/replica-cache.ts'
import { type MirrorRecord, type RecordKind, writePrompt } from '../codec/mirror-entry.ts'

/** At most this many changes wait. Beyond that everything is written again, once that is possible. */
const maxWaiting = 1 << 20
/** What is encoded in one step takes about a millisecond: so many records, of which a whole one counts as several. */
const mostCost = 256
const mostBytes = 1 << 18

/** The changes of a mirror that are not in Redis yet, oldest first: of each request the one that says most. */
export class MirrorChanges extends Map<RequestId, RecordKind> {
  #hasOverflowed = false

  /** Returns whether more changes came than can wait, and resets that flag. */
  takeOverflow(): boolean {
    const had = this.#hasOverflowed
    this.#hasOverflowed = false
    return had
  }

  /** Queues a change, unless the one that waits says as much. */
  put(request: RequestId, kind: RecordKind): void {
    const before = this.get(request)
    const saysMore = !before || rank[kind] > rank[before] || (rank[kind] === 3 && kind !== before)
    if (!saysMore) return
    this.set(request, kind)
    if (this.size <= maxWaiting) return
    this.clear()
    this.#hasOverflowed = true
  }

  /** The replica was reset: what was held of requests no longer counts, but their token counts still do. */
  reset(): void {
    for (const [request, kind] of this) if (kind === 'held') this.set(request, 'counted')
  }

  /** Takes waiting changes, oldest first, as records of what is believed now: as many as can be encoded in one step. */
  take(cache: Pick<ReplicaCache, 'mirror' | 'tokens'>): MirrorRecord[] {
    const records: MirrorRecord[] = []
    let [cost, bytes] = [0, 0]
    for (const [request, kind] of this) {
      if (cost >= mostCost || bytes >= mostBytes) break
      this.delete(request)
      const record = toRecord(request, kind, cache)
      if (record) records.push(record)
      cost += costOf(kind)
      bytes += record?.prompt?.length ?? 0
    }
    return records
  }

  /** Puts back a change that was not written, unless a newer one says as much. */
  putBack(request: RequestId, kind: RecordKind): void {
    const since = this.get(request)
    if (!since || rank[kind] > rank[since]) this.set(request, kind)
  }
}

/** What it costs to encode a record, and at least to keep it: a whole one as much as eight others. */
export function costOf(kind: RecordKind): number {
  return kind === 'sent' || kind === 'known' ? 8 : 1
}

/** Returns undefined if there is nothing to tell, or its prompt is too long. */
function toRecord(
  request: RequestId,
  kind: RecordKind,
  { mirror, tokens }: Pick<ReplicaCache, 'mirror' | 'tokens'>,
): MirrorRecord | undefined {
  if (kind === 'gone') return { kind, request, ...nothing }
  const belief = mirror.recall(request)
  if (!belief) return undefined
  const { heldLength, tokensPerCharacter } = belief
  const reportedTokens = heldLength === 0 ? 0 : tokens.reportedOf(request)
  const told = { kind, request, heldLength, tokensPerCharacter, reportedTokens }
  if (kind === 'held' || kind === 'counted') return { ...told, prompt: undefined }
  const prompt = writePrompt(belief.prompt)
  return prompt && { ...told, prompt }
}

const nothing = { heldLength: 0, tokensPerCharacter: undefined, reportedTokens: undefined, prompt: undefined }
const rank = { counted: 0, held: 1, known: 2, sent: 3, gone: 3 } as const
