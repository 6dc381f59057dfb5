/**
 * Keeps a turn that has blocks beside it, in one step: where the same words were sent with others, which belong to them
 * cannot be told, and 1 is answered. Arguments: how records of the same blocks begin, record, ambiguous record, seconds.
 */
export const rememberExplicitTurn: string = `
local known = redis.call('GET', KEYS[1])
local isSame = not known or string.sub(known, 1, #ARGV[1]) == ARGV[1]
redis.call('SET', KEYS[1], ARGV[isSame and 2 or 3], 'EX', ARGV[4])
return isSame and 0 or 1
`

/** Takes back a record, if it is still that very one. Argument: its head. */
export const forgetTurn: string = `
local known = redis.call('GET', KEYS[1])
if known and string.sub(known, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`
