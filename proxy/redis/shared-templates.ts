import { tryObject } from '#engine-adapters/json-object.ts'
import type { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import type { Template } from '../templates/template.ts'
import type { TemplateBook, TimedSaid } from '../templates/template-book.ts'
import { isTemplateId, readTemplate, writeTemplate } from '../templates/template-record.ts'
import { getCommand, setCommand } from './connection/redis-command.ts'
import { templateRedisKeys } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions } from './shared-part.ts'

interface SharedTemplatesOptions extends SharedPartOptions {
  readonly templates: TemplateBook
  readonly learnt: LearntTemplates
}

const pollMilliseconds = 5_000
/** Records read or written in one turn. */
const mostAtOnce = 32
/** A record is read or written again once it has grown by this share. */
const growth = 1.1

/**
 * Shares templates through Redis: what people said of them, evidence, and borders that were learnt. A proxy adopts
 * evidence from more requests than its own, so evidence survives restarts and reaches proxies that see little of a
 * template's traffic. No request waits for it.
 */
export class SharedTemplates extends SharedPart<SharedTemplatesOptions> {
  readonly #keys: ReturnType<typeof templateRedisKeys>
  /** by id: at how many requests a record could not be read; it is read again once it has grown */
  #unreadable = new Map<string, number>()

  constructor(options: SharedTemplatesOptions) {
    super(options, pollMilliseconds)
    this.#keys = templateRedisKeys(options.namespace)
  }

  protected async exchange(): Promise<void> {
    await this.#shareSaid()
    await this.#dropForgotten()
    await this.#shareEvidence()
  }

  async #shareSaid(): Promise<void> {
    const { templates, ttlSeconds, onFault } = this.options
    const reply = await this.ask(getCommand(this.#keys.said))
    if ('error' in reply) return
    const told = reply.value === null ? {} : readSaid(reply.value)
    if (!told) onFault('redis_value')
    for (const [id, said] of Object.entries(told ?? {})) templates.adoptSaid(id, said)
    const own = templates.allSaid
    if (JSON.stringify(own) === JSON.stringify(told) || Object.keys(own).length === 0) return
    await this.put([setCommand(this.#keys.said, JSON.stringify(own), ttlSeconds)])
  }

  async #dropForgotten(): Promise<void> {
    const forgotten = this.options.templates.takeForgotten()
    if (forgotten.length === 0) return
    const { counts, record } = this.#keys
    await this.put([
      { key: counts, name: 'zrem', args: [counts, ...forgotten] },
      ...forgotten.map((id) => ({ key: record(id), name: 'unlink', args: [record(id)] })),
    ])
  }

  async #shareEvidence(): Promise<void> {
    const { templates } = this.options
    const { counts } = this.#keys
    const reply = await this.ask({ key: counts, name: 'zrange', args: [counts, 0, -1, 'WITHSCORES'] })
    const told = 'value' in reply ? readCounts(reply.value) : undefined
    if (!told) return
    this.#unreadable = new Map([...this.#unreadable].filter(([id]) => told.has(id)))
    const knownOf = (id: string): number => Math.max(templates.get(id)?.requests ?? 0, this.#unreadable.get(id) ?? 0)
    const unread = [...told].filter(([id, requests]) => requests > growth * knownOf(id))
    await this.#read(new Map(unread.slice(0, mostAtOnce)))
    const ahead = templates.all.filter(({ id, requests }) => requests > growth * (told.get(id) ?? 0))
    await this.#write(ahead.slice(0, mostAtOnce))
  }

  /** Reads records, by id with how many requests they are of. */
  async #read(told: ReadonlyMap<string, number>): Promise<void> {
    if (told.size === 0) return
    const ids = [...told.keys()]
    const { counts, record } = this.#keys
    const replies = await this.options.redis.write(ids.map((id) => getCommand(record(id))))
    const expired: string[] = []
    for (const [i, reply] of replies.entries()) {
      if ('error' in reply) continue
      if (reply.value === null) expired.push(ids[i]!)
      else if (!this.#adopt(ids[i]!, reply.value)) this.#unreadable.set(ids[i]!, told.get(ids[i]!)!)
    }
    if (expired.length === 0) return
    // they would be read again and again, in place of others; whoever still knows them writes them again
    await this.put([{ key: counts, name: 'zrem', args: [counts, ...expired] }])
  }

  /** Returns whether the record could be read. */
  #adopt(id: string, value: unknown): boolean {
    const { templates, learnt, onFault } = this.options
    const read = typeof value === 'string' ? readTemplate(value) : undefined
    if (read?.template.id !== id) {
      onFault('redis_value')
      return false
    }
    templates.adopt(read.template)
    if (read.borders) learnt.adopt(read.borders)
    return true
  }

  async #write(templates: readonly Template[]): Promise<void> {
    if (templates.length === 0) return
    const { learnt, ttlSeconds } = this.options
    const { counts } = this.#keys
    const scores = templates.flatMap(({ id, requests }) => [requests, id])
    const records = templates.map((template) => {
      const borders = template.learntKey === undefined ? undefined : learnt.get(template.learntKey)
      return setCommand(this.#keys.record(template.id), writeTemplate({ template, borders }), ttlSeconds)
    })
    await this.put([
      ...records,
      { key: counts, name: 'zadd', args: [counts, 'GT', ...scores] },
      { key: counts, name: 'expire', args: [counts, ttlSeconds] },
    ])
  }
}

function readSaid(value: unknown): Record<string, TimedSaid> | undefined {
  const parsed = tryObject(String(value))
  if (!parsed) return undefined
  const entries = Object.entries(parsed)
  const isSound = entries.every(([id, told]) => {
    if (!isTemplateId(id) || !Array.isArray(told)) return false
    const [said, at] = told
    return (said === 'on' || said === 'off' || said === null) && Number.isFinite(at)
  })
  return isSound ? (parsed as Record<string, TimedSaid>) : undefined
}

function readCounts(value: unknown): Map<string, number> | undefined {
  if (!Array.isArray(value) || value.length % 2 !== 0) return undefined
  const counts = new Map<string, number>()
  for (let i = 0; i < value.length; i += 2) {
    const [id, requests] = [String(value[i]), Number(value[i + 1])]
    if (isTemplateId(id) && Number.isFinite(requests)) counts.set(id, requests)
  }
  return counts
}
