/*
 * How often blocks were asked for of all proxies of a namespace, in Redis: one sorted set, so that there is all of it or
 * none. A member is a block's id, its score the count plus the block's size as a fraction (`toScore`). When there are
 * too many, all counts fall by the same (Misra and Gries): what they have fallen by so far, the floor, is in the scores
 * still, so that only those are touched that go. It is the score of the lowest member, `#EPOCH:LIFE`: how often all was
 * forgotten, and which life of the set this is (another one means that Redis has lost it).
 *
 * A proxy's writer key has the number of its last command: one that arrives late, behind later ones, does nothing. Nor
 * does one when that before it has not been heard of: what is there is older than what was, as of a replica that took over.
 */

/**
 * Writes counts and reads the hottest, in one step. KEYS: counts, writer. ARGV: seconds, capacity, blocks to be answered,
 * number of the command, number that must have been heard of before, epoch and life as the proxy knows them, life for a
 * set that begins, what to do: `add` counts, `raise` them to at least what is told, or `clear` all; then block and score
 * of each.
 * Answers: `done`; or, with nothing done, `other` when the proxy does not know the life, `broken` when what was there
 * could not be understood and began anew; then epoch and life to go on in, floor, and blocks and scores, hottest first.
 * Or one word alone, with nothing done: `late` behind a later command, `lost` when that before it is not heard of.
 */
export const countHotBlocks: string = `
local key, writer, ttl, capacity = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local number, known, life, task = tonumber(ARGV[4]), tonumber(ARGV[6]), ARGV[7], ARGV[9]
local function answer(status, head, floor)
  local out = {status, head, string.format('%.0f', floor)}
  if tonumber(ARGV[3]) > 0 then
    local top = redis.call('ZRANGE', key, 0, ARGV[3] - 1, 'REV', 'WITHSCORES')
    for _, text in ipairs(top) do out[#out + 1] = text end
  end
  return out
end
local lowest = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
local head, floor = lowest[1], tonumber(lowest[2])
local epoch, lived = string.match(head or '', '^#(%d+):([%w.-]+)$')
local isBroken = (head or lowest.err) and not (epoch and #epoch < 16 and floor >= 0 and floor < 2 ^ 52 and floor % 1 == 0)
epoch = isBroken and -1 or tonumber(epoch or -1)
local last = redis.pcall('GET', writer)
last = type(last) == 'string' and tonumber(last) or 0
if last >= number then return {'late'} end
if last < tonumber(ARGV[5]) then return {'lost'} end
redis.call('SET', writer, ARGV[4], 'EX', ttl)
if task == 'clear' then known = math.max(known, epoch) + 1 end
if epoch < math.max(known, 0) then
  redis.call('UNLINK', key)
  lived, floor = ARGV[8], 0
  head = '#' .. string.format('%.0f', math.max(known, 0)) .. ':' .. lived
  redis.call('ZADD', key, floor, head)
end
redis.call('EXPIRE', key, ttl)
if task == 'clear' then return answer('done', head, floor) end
if lived ~= life then return answer(isBroken and 'broken' or 'other', head, floor) end
for at = 10, #ARGV, 2 do
  local score, told = tonumber(redis.call('ZSCORE', key, ARGV[at]) or floor), tonumber(ARGV[at + 1])
  local count, more = math.floor(score), math.floor(told)
  local size = score > count and score - count or told - more
  count = task == 'add' and count + more or math.max(count, floor + more)
  redis.call('ZADD', key, count + size, ARGV[at])
end
if redis.call('ZCARD', key) > capacity + 1 then
  floor = math.floor(tonumber(redis.call('ZRANGE', key, capacity, capacity, 'REV', 'WITHSCORES')[2]))
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. string.format('%.0f', floor + 1))
  redis.call('ZADD', key, floor, head)
end
return answer('done', head, floor)
`
