import { groupBy } from '#index/group-by.ts'
import type { RedisClient } from './create-redis-client.ts'
import { Cluster } from './ioredis.ts'
import type { RedisCommand, RedisReply } from './redis-command.ts'

/** Runs commands in one pipeline, or in a cluster in one per hash tag, in parallel. Never rejects: each has a reply. */
export async function runCommands(client: RedisClient, commands: readonly RedisCommand[]): Promise<RedisReply[]> {
  if (!(client instanceof Cluster)) return runPipeline(client, commands)
  // in a cluster, a pipeline goes to one slot: keys with the same hash tag
  const places = groupBy(commands.keys(), (place) => {
    const { key } = commands[place]!
    return /\{([^}]+)\}/.exec(key)?.[1] ?? key
  })
  const replies = new Array<RedisReply>(commands.length)
  await Promise.all(
    [...places.values()].map(async (group) => {
      const answered = await runPipeline(
        client,
        group.map((place) => commands[place]!),
      )
      for (const [i, place] of group.entries()) replies[place] = answered[i]!
    }),
  )
  return replies
}

async function runPipeline(client: RedisClient, commands: readonly RedisCommand[]): Promise<RedisReply[]> {
  try {
    const results = await client.pipeline(commands.map(({ name, args }) => [name, ...args])).exec()
    return commands.map((_, i) => {
      const [error, value] = results?.[i] ?? [new Error('no answer')]
      return error ? { error } : { value }
    })
  } catch (error) {
    return commands.map(() => ({ error: error as Error }))
  }
}
