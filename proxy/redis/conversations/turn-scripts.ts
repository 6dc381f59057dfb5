/**
 * Stores a turn with explicit blocks in one step. If the same words were sent with other blocks before, it is unclear
 * which blocks belong to them: stores the ambiguous record and returns 1. Arguments: start of records with the same
 * blocks, record, ambiguous record, time to live in seconds.
 */
export const rememberExplicitTurn: string = `
local known = redis.call('GET', KEYS[1])
local isSame = not known or string.sub(known, 1, #ARGV[1]) == ARGV[1]
redis.call('SET', KEYS[1], ARGV[isSame and 2 or 3], 'EX', ARGV[4])
return isSame and 0 or 1
`

/** Deletes a record if it is still the given one. Argument: its head. */
export const forgetTurn: string = `
local known = redis.call('GET', KEYS[1])
if known and string.sub(known, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`
