/** A command on one key. */
export interface RedisCommand {
  readonly key: string
  readonly name: string
  /** what follows the name, the key included */
  readonly args: readonly (string | number | Buffer)[]
}

/** What a command was answered with, or why it was not. */
export type RedisReply = { readonly value: unknown } | { readonly error: Error }

/** Reads a text. */
export function getCommand(key: string): RedisCommand {
  return { key, name: 'get', args: [key] }
}

/** Sets a text that lives for so many seconds; with `NX` only where there is none, with `XX` where there is one. */
export function setCommand(key: string, value: string, seconds: number, ...flags: ('NX' | 'XX')[]): RedisCommand {
  return { key, name: 'set', args: [key, value, 'EX', seconds, ...flags] }
}

/** Runs a script on a key: where reading and writing have to be one step. */
export function evalCommand(script: string, key: string, ...args: (string | number)[]): RedisCommand {
  return { key, name: 'eval', args: [script, 1, key, ...args] }
}

/** Runs a script on keys of one slot; texts in its reply are bytes. */
export function evalBytesCommand(
  script: string,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): RedisCommand {
  return { key: keys[0]!, name: 'evalBuffer', args: [script, keys.length, ...keys, ...args] }
}
