import type { RedisCommand, RedisReply } from './redis-command.ts'
import type { RedisAccess, RedisListener } from './redis-connection.ts'

/** A fake Redis. Tests choose what it replies, and when. */
export class RedisDouble implements RedisAccess {
  isUp = true
  readonly batches: (readonly RedisCommand[])[] = []
  readonly listeners: RedisListener[] = []
  /** returns the reply to a command */
  answer: (command: RedisCommand) => RedisReply = () => ({ value: 'OK' })
  /** delays replies until it resolves */
  gate: Promise<void> = Promise.resolve()

  read(commands: readonly RedisCommand[]): Promise<RedisReply[] | undefined> {
    return this.isUp ? this.write(commands) : Promise.resolve(undefined)
  }

  async write(commands: readonly RedisCommand[]): Promise<RedisReply[]> {
    this.batches.push(commands)
    await this.gate
    return commands.map((command) => this.answer(command))
  }

  listen(listener: RedisListener): () => void {
    this.listeners.push(listener)
    return () => void this.listeners.splice(this.listeners.indexOf(listener), 1)
  }

  /** What was written, as `key=value`, in order. */
  get written(): string[] {
    return this.batches.flat().map(({ args }) => args.slice(0, 2).join('='))
  }
}
