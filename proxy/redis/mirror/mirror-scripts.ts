import { recordHeadBytes, recordHeadFormat, recordVersion } from '../codec/mirror-record.ts'
import { evalBytesCommand, type RedisCommand, type RedisReply } from '../connection/redis-command.ts'
import type { MirrorKeys } from '../redis-keys.ts'

/*
 * A replica's mirror in Redis:
 * - head, a hash: `epoch` (how often the replica was reset), `life` (id of this head: if it changes, Redis has lost the
 *   head), `generation` and `born` (the engine's generation, and when a proxy first heard of it), `sequence` (up to
 *   which its reports are in the records), `seen` (the latest sequence any proxy had heard of), `count` (entries of the
 *   feed so far), `reuse` (what the engine said last about reuse at any position, as JSON)
 * - buckets, hashes: request → record (mirror-record.ts)
 * - feed, a stream: what was written, in its merged form
 *
 * redis-keys.ts names the keys. All of a mirror's have one hash tag, so they lie on one node of a cluster: a script may
 * use buckets that it only finds by their numbers.
 */

/**
 * Writes a batch in one step. Refuses it without any effect if the replica was reset and the writer does not know, or
 * if the writer's own reset is older than the state in Redis. For each record the later report wins, whoever writes
 * last.
 *
 * KEYS: head, feed, buckets, then the buckets of the batch. ARGV: time to live in seconds, maximum entries of the feed,
 * proxy, epoch, life for a missing head, generation, born, sequence, 1 if nothing up to it is still to come, 'replaced'
 * or 'cleared' for a reset (otherwise ''), what keys of buckets begin with, what the writer knows of reuse (otherwise ''),
 * 1 if the engine has told it just now, then for each record: index of its bucket in KEYS, bucket, request, kind (w: written, r: written again, u: density only, p: head only, g: gone), head, prompt.
 * Returns: '' or 'refused', epoch, life, generation, born, sequence, count, id of the feed's entry, reuse, indices of
 * missing records.
 */
export const writeMirror: string = `
local ttl, isWhole, anew = ARGV[1], ARGV[9] == '1', ARGV[10]
local mine, generation, born, sequence = tonumber(ARGV[4]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local known = redis.call('HMGET', KEYS[1], 'epoch', 'life', 'generation', 'born', 'seen')
local epoch, life = tonumber(known[1]), known[2] or ARGV[5]
local function answer(status, id, missing)
  local now = redis.call('HMGET', KEYS[1], 'epoch', 'life', 'generation', 'born', 'sequence', 'count', 'reuse')
  return {status, now[1], now[2], now[3], now[4], now[5], now[6] or '0', id or '0-0', now[7] or '', missing or ''}
end
if epoch and anew ~= '' then
  local isOlder
  if known[3] == generation then isOlder = sequence < (tonumber(known[5]) or 0)
  else isOlder = born <= (tonumber(known[4]) or 0) end
  if isOlder then return answer('refused') end
elseif epoch and mine < epoch then
  return answer('refused')
end
if not epoch or mine > epoch then
  if epoch then life = ARGV[5] end
  epoch = mine
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'life', life, 'generation', generation, 'born', ARGV[7], 'sequence', 0, 'seen', 0)
end
if anew ~= '' then
  epoch = epoch + 1
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'generation', generation, 'born', ARGV[7], 'sequence', 0, 'seen', 0)
end
if anew == 'cleared' then
  for _, bucket in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do redis.call('UNLINK', ARGV[11] .. bucket) end
  redis.call('DEL', KEYS[3])
end
if generation == redis.call('HGET', KEYS[1], 'generation') then
  local before = redis.call('HMGET', KEYS[1], 'sequence', 'seen')
  if isWhole and sequence > (tonumber(before[1]) or 0) then redis.call('HSET', KEYS[1], 'sequence', ARGV[8]) end
  if sequence > (tonumber(before[2]) or 0) then redis.call('HSET', KEYS[1], 'seen', ARGV[8]) end
end
if ARGV[12] ~= '' and (ARGV[13] == '1' or not redis.call('HGET', KEYS[1], 'reuse')) then
  redis.call('HSET', KEYS[1], 'reuse', ARGV[12])
end
local out, missing = {}, {}
local function tell(bucket, request, kind, head, prompt)
  out[#out + 1] = struct.pack('>I4I2I4', tonumber(bucket), #request, #prompt) .. kind .. head .. request .. prompt
end
for at = 14, #ARGV, 6 do
  local key, bucket, request, kind = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local head, prompt = ARGV[at + 4], ARGV[at + 5]
  local old = redis.call('HGET', key, request)
  if kind == 'g' then
    if old then
      redis.call('HDEL', key, request)
      if redis.call('EXISTS', key) == 0 then redis.call('ZREM', KEYS[3], bucket) end
    end
    tell(bucket, request, kind, head, '')
  elseif (kind == 'p' or kind == 'u') and not old then
    missing[#missing + 1] = tostring((at - 14) / 6)
  else
    if old and kind ~= 'w' and #old >= ${recordHeadBytes} and string.byte(old) == ${recordVersion} then
      local e, s, held, density, reported = struct.unpack('${recordHeadFormat}', old, 2)
      local newE, newS, newHeld, newDensity, newReported = struct.unpack('${recordHeadFormat}', head, 2)
      if newDensity == 0 then newDensity = density end
      local isLater = s > newS or kind == 'u' or (kind == 'r' and s == newS)
      if e > newE or (e == newE and isLater) then newE, newS, newHeld, newReported = e, s, held, reported end
      head = string.char(${recordVersion}) .. struct.pack('${recordHeadFormat}', newE, newS, newHeld, newDensity, newReported)
    end
    redis.call('HSET', key, request, head .. (#prompt == 0 and string.sub(old, ${recordHeadBytes} + 1) or prompt))
    redis.call('EXPIRE', key, ttl)
    redis.call('ZADD', KEYS[3], bucket, bucket)
    tell(bucket, request, kind, head, prompt)
  end
end
local count = redis.call('HINCRBY', KEYS[1], 'count', 1)
local now = redis.call('HMGET', KEYS[1], 'generation', 'born', 'sequence', 'reuse')
local fields = {'v', table.concat({count, ARGV[3], life, epoch, anew, now[2], now[3], now[1]}, ' '), 'd', table.concat(out)}
-- proxies of the version before know no third field
if now[4] then fields[5], fields[6] = 'r', now[4] end
local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', unpack(fields))
for i = 1, 3 do redis.call('EXPIRE', KEYS[i], ttl) end
return answer('', id, table.concat(missing, ' '))
`

/**
 * Reads the state of a mirror. KEYS: head, feed, buckets. ARGV: what keys of buckets begin with. Returns the same, with
 * the id of the feed's last entry and the number of records.
 */
export const readMirrorStatus: string = `
local head = redis.call('HMGET', KEYS[1], 'epoch', 'life', 'generation', 'born', 'sequence', 'count', 'reuse')
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local records = 0
for _, bucket in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do records = records + redis.call('HLEN', ARGV[1] .. bucket) end
return {'', head[1] or '', head[2] or '', head[3] or '', head[4] or '', head[5] or '', head[6] or '0',
  last[1] and last[1][1] or '0-0', head[7] or '', records}
`

/** Runs `readMirrorStatus`. */
export function statusCommand({ head, feed, buckets, bucketPrefix }: MirrorKeys): RedisCommand {
  return evalBytesCommand(readMirrorStatus, [head, feed, buckets], [bucketPrefix])
}

/** The head of a replica's mirror in Redis. */
export interface MirrorHead {
  readonly epoch: number
  readonly life: string
  readonly generation: string
  readonly born: number
  readonly sequence: number
}

/** What the scripts answer. */
export interface MirrorAnswer {
  readonly isRefused: boolean
  /** undefined if Redis has none */
  readonly head: MirrorHead | undefined
  /** entries of the feed so far, and the id of the last one */
  readonly count: number
  readonly lastId: string
  /** what the engine said last about reuse, as JSON; '': nothing yet */
  readonly reuse: string
  /** of a batch: indices of records that should have been changed but are missing; of a state: how many records there are */
  readonly numbers: readonly number[]
}

/** Decodes the reply of a script. Returns undefined if it is invalid. */
export function readMirrorAnswer(reply: RedisReply | undefined): MirrorAnswer | undefined {
  if (!reply || 'error' in reply || !Array.isArray(reply.value) || reply.value.length !== 10) return undefined
  const texts = reply.value.map((value) => (value === null ? '' : String(value)))
  const [status, epoch, life, generation, born, sequence, count, lastId, reuse, numbers] = texts as Ten<string>
  const told = { isRefused: status === 'refused', reuse, numbers: numbers.split(' ').filter(Boolean).map(Number) }
  if (epoch === '') return { ...told, head: undefined, count: 0, lastId: '0-0' }
  const areNumbers = [epoch, born, sequence, count].every((text) => /^\d{1,15}$/.test(text))
  if (!areNumbers || Number(epoch) > 0xffff_ffff || !life || !/^\d+-\d+$/.test(lastId)) return undefined
  const head = { epoch: Number(epoch), life, generation, born: Number(born), sequence: Number(sequence) }
  return { ...told, head, count: Number(count), lastId }
}

type Ten<T> = [T, T, T, T, T, T, T, T, T, T]
