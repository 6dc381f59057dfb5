import { EventEmitter } from 'node:events'
import type { RedisClient } from './create-redis-client.ts'

type Result = [error: Error | null, value: unknown]
type Command = readonly [name: string, ...args: unknown[]]

/** An error reply of Redis. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' })
}

/** A fake client of a Redis that implements only SET. Tests can intercept each command. */
export class RedisClientDouble extends EventEmitter {
  status: 'wait' | 'ready' | 'reconnecting' | 'end' = 'wait'
  /** the stored values */
  readonly held: Map<string, unknown> = new Map()
  readonly commands: Command[] = []
  /** intercepts a command: an error is the answer, a promise delays the command; undefined: run it normally */
  meddle: (command: Command) => Error | Promise<void> | undefined = () => undefined

  /** itself, typed as the client for a connection */
  get client(): RedisClient {
    return this as unknown as RedisClient
  }

  async connect(): Promise<void> {
    this.open()
  }

  /** Simulates a new connection. */
  open(): void {
    this.status = 'ready'
    this.emit('ready')
  }

  /** Simulates a lost connection. */
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
