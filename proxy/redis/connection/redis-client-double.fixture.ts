import { EventEmitter } from 'node:events'
import type { RedisClient } from './create-redis-client.ts'

type Result = [error: Error | null, value: unknown]
type Command = readonly [name: string, ...args: unknown[]]

/** An answer of Redis that is an error. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' })
}

/** Stands in for a client of one Redis that knows SET alone, where a test chooses what is done to a command. */
export class RedisClientDouble extends EventEmitter {
  status: 'wait' | 'ready' | 'reconnecting' | 'end' = 'wait'
  /** what it holds */
  readonly held: Map<string, unknown> = new Map()
  readonly commands: Command[] = []
  /** what to answer instead of doing it; a promise: it is answered late; undefined: it is done */
  meddle: (command: Command) => Error | Promise<void> | undefined = () => undefined

  /** as the connection is given it */
  get client(): RedisClient {
    return this as unknown as RedisClient
  }

  async connect(): Promise<void> {
    this.open()
  }

  /** It has a connection. */
  open(): void {
    this.status = 'ready'
    this.emit('ready')
  }

  /** It has lost its connection. */
  lose(): void {
    this.status = 'reconnecting'
    this.emit('close')
  }

  disconnect(): void {
    this.status = 'end'
  }

  pipeline(commands: readonly Command[]): { exec(): Promise<Result[]> } {
    return { exec: () => Promise.all(commands.map((command) => this.#run(command))) }
  }

  async #run(command: Command): Promise<Result> {
    this.commands.push(command)
    const meddled = this.meddle(command)
    if (meddled instanceof Error) return [meddled, undefined]
    await meddled
    const [name, key, value, , , flag] = command
    if (name !== 'set') return [null, 'OK']
    const before = this.held.get(String(key)) ?? null
    if (flag !== 'XX' || before !== null) this.held.set(String(key), value)
    return [null, flag === 'XX' && before === null ? null : 'OK']
  }
}
