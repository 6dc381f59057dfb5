export interface RedisCommand {
  readonly key: string
  readonly name: string
  /** everything after the name, including the key */
  readonly args: readonly (string | number | Buffer)[]
}

/** The reply to a command, or the error. */
export type RedisReply = { readonly value: unknown } | { readonly error: Error }

/** Reads a string. */
export function getCommand(key: string): RedisCommand {
  return { key, name: 'get', args: [key] }
}

/** Sets a string that expires after `seconds`; with `NX` only if the key is absent, with `XX` only if it exists. */
export function setCommand(key: string, value: string, seconds: number, ...flags: ('NX' | 'XX')[]): RedisCommand {
  return { key, name: 'set', args: [key, value, 'EX', seconds, ...flags] }
}

/** Runs a script on a key, for reading and writing in one step. */
export function evalCommand(script: string, key: string, ...args: (string | number)[]): RedisCommand {
  return { key, name: 'eval', args: [script, 1, key, ...args] }
}
