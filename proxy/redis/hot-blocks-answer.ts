import type { BlockId } from '#index/context-block.ts'
import type { HotBlock } from '../telemetry/hot-blocks.ts'
import type { RedisReply } from './redis-command.ts'

/** What `countHotBlocks` answered. */
export interface HotBlocksAnswer {
  readonly status: 'done' | 'other' | 'broken' | 'late' | 'lost'
  /** how often all was forgotten */
  readonly epoch: number
  readonly life: string
  /** the hottest blocks by id */
  readonly top: ReadonlyMap<BlockId, HotBlock>
  /** members of the set that no proxy has written */
  readonly strange: readonly Buffer[]
}

/** Sizes are fractions of a score: they stay whole up to a million characters, and counts far beyond what is asked for. */
const sizeUnit = 2 ** 20

/** How count and size of a block are written. */
export function toScore({ count, size }: Pick<HotBlock, 'count' | 'size'>): number {
  return count + Math.min(size, sizeUnit - 1) / sizeUnit
}

/** Understands an answer in bytes; undefined for anything that cannot be relied on. */
export function readHotBlocksAnswer(reply: RedisReply | undefined): HotBlocksAnswer | undefined {
  if (!reply || 'error' in reply || !Array.isArray(reply.value)) return undefined
  const [first, head, lowest, ...pairs] = reply.value
  const status = /^(?:done|other|broken|late|lost)$/.exec(String(first))?.[0] as HotBlocksAnswer['status'] | undefined
  const [, epoch, life] = /^#(\d{1,15}):([\w.-]{1,100})$/.exec(String(head)) ?? []
  const floor = Number(String(lowest))
  // these have not looked at what is there
  if (status === 'late' || status === 'lost') return { status, epoch: 0, life: '', top: new Map(), strange: [] }
  if (!status || life === undefined || !Number.isSafeInteger(floor)) return undefined
  return { status, epoch: Number(epoch), life, ...readTop(pairs, String(head), floor) }
}

function readTop(pairs: readonly unknown[], head: string, floor: number): Pick<HotBlocksAnswer, 'top' | 'strange'> {
  const top = new Map<BlockId, HotBlock>()
  const strange: Buffer[] = []
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const member = pairs[at]
    if (!Buffer.isBuffer(member)) continue
    const block = member.toString('latin1')
    if (block === head) continue
    const score = Number(String(pairs[at + 1]))
    const count = Math.floor(score) - floor
    const isValid = /^~?[\w-]{22}$/.test(block) && count > 0 && score < Number.MAX_SAFE_INTEGER
    if (isValid) top.set(block as BlockId, { block: block as BlockId, count, size: Math.round((score % 1) * sizeUnit) })
    else strange.push(member)
  }
  return { top, strange }
}
