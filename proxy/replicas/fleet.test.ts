import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import { ProcessedBlocks } from '#index/processed-blocks.ts'
import type { Log } from '../common/log.ts'
import type { Config } from '../config/config.ts'
import type { FoundEngine } from '../config/read-files.ts'
import { defaultConfig } from '../config/sources/config-source.ts'
import { Gain } from '../gain/gain.ts'
import { createMirrors, createReplicas } from '../start/create-replicas.ts'
import { Divergence } from '../telemetry/divergence.ts'
import { Fleet } from './fleet.ts'
import type { Replica } from './replica.ts'
import { ReplicaSet } from './replica-set.ts'

const config: Config = defaultConfig()
const silent = { warn: () => {} } as unknown as Log

/** What accompanies a replica, noting what was done with it. */
class CompanionDouble {
  readonly did: string[] = []

  start(): void {
    this.did.push('start')
  }

  async close(): Promise<void> {
    this.did.push('close')
  }

  async drop(): Promise<void> {
    this.did.push('drop')
  }
}

function createWorld() {
  const processed = new ProcessedBlocks(1_000)
  const gain = new Gain(createMirrors(), 'now')
  const divergence = new Divergence()
  const replicas = new ReplicaSet([])
  const companions = new Map<Replica, CompanionDouble>()
  const gone: ReplicaId[] = []
  const fleet = new Fleet(replicas, {
    create: createReplicas(() => config, { processed, gain, log: silent }),
    accompany: async (replica) => {
      const companion = new CompanionDouble()
      companions.set(replica, companion)
      return [companion]
    },
    join: async () => {},
    onJoined: () => {},
    onGone: (id) => {
      gone.push(id)
      processed.forget(id)
      gain.drop(id)
      divergence.delete(id)
    },
  })
  fleet.start()
  return { processed, gain, divergence, replicas, companions, gone, fleet }
}

const engine = (id: string, port = 1): FoundEngine => ({
  engine: { id, url: `http://127.0.0.1:${port}`, kind: 'vllm' },
  tls: undefined,
})

const step = fc.oneof(
  fc.record({
    set: fc.uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), port: fc.constantFrom(1, 2) }), {
      selector: ({ id }) => id,
      minLength: 1,
    }),
  }),
  fc.record({ begin: fc.nat() }),
  fc.record({ end: fc.nat() }),
)

type Step =
  | { readonly set: readonly { id: string; port: number }[] }
  | { readonly begin: number }
  | { readonly end: number }

/** A fleet, and the requests that run on its replicas. */
class FleetModel {
  readonly world = createWorld()
  readonly seen = new Set<Replica>()
  readonly #running: Replica[] = []
  wanted: readonly { id: string; port: number }[] = []

  async take(step: Step): Promise<void> {
    const { fleet, replicas } = this.world
    if ('set' in step) {
      this.wanted = step.set
      await fleet.set(step.set.map(({ id, port }) => engine(id, port)))
    } else if ('begin' in step) {
      const candidates = replicas.candidates()
      this.#begin(candidates[step.begin % candidates.length])
    } else this.#end(this.#running[step.end % this.#running.length])
    fleet.tick()
    for (const replica of replicas.all) this.seen.add(replica)
  }

  async endAll(): Promise<void> {
    for (const replica of this.#running.slice()) this.#end(replica)
    this.world.fleet.tick()
    await new Promise((resolve) => setImmediate(resolve))
  }

  #begin(replica: Replica | undefined): void {
    if (!replica) return
    replica.passing += 1
    this.#running.push(replica)
  }

  #end(replica: Replica | undefined): void {
    if (!replica) return
    replica.passing -= 1
    this.#running.splice(this.#running.indexOf(replica), 1)
  }
}

test('whatever comes and goes, the replicas are those that are wanted, and those that finish their requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const model = new FleetModel()
      const { fleet, replicas, companions } = model.world
      for (const one of steps) {
        await model.take(one)
        const [staying, leaving] = [false, true].map((own) => replicas.all.filter(({ isLeaving }) => isLeaving === own))
        const urls = model.wanted.map(({ id, port }) => `${id} http://127.0.0.1:${port}`)
        expect(staying!.map(({ id, engine: { url } }) => `${id} ${url}`)).toEqual(urls)
        expect(replicas.candidates()).toEqual(staying)
        // a replica with requests is neither closed nor given more
        expect(leaving!.filter(({ requests }) => requests === 0)).toEqual([])
      }
      await model.endAll()
      expect(replicas.all.length).toBe(model.wanted.length)
      for (const replica of model.seen) {
        const isThere = replicas.all.includes(replica)
        expect(companions.get(replica)!.did).toEqual(isThere ? ['start'] : ['start', 'drop'])
      }
      await fleet.close(0)
    }),
    { numRuns: 60 },
  )
})

let collect: () => void

beforeAll(() => {
  setFlagsFromString('--expose-gc')
  collect = runInNewContext('gc') as () => void
})

test('nothing is kept of a replica that is gone, however much it was sent', async () => {
  const { fleet, replicas, processed, gain, divergence, companions, gone } = createWorld()
  await fleet.set([engine('still')])
  const released: WeakRef<Replica>[] = []
  for (let round = 0; round < 20; round++) {
    await fleet.set([engine('still'), engine(`pod-${round}`)])
    const replica = replicas.find(`pod-${round}`)!
    released.push(new WeakRef(replica))
    for (let i = 0; i < 20; i++) {
      const blocks = [`${i}`, 'shared'] as never
      replica.cache.sent(
        `${round}-${i}` as RequestId,
        {
          contexts: [{ scope: 'scope' as never, blocks, sizes: [10, 10], ends: [10, 20] }],
          prefixes: ['p1', 'p2'],
          ends: [10, 20],
          length: 20,
        } as never,
      )
      replica.cache.ended([`${round}-${i}` as RequestId])
      processed.note(replica.id, 'tenant', blocks)
    }
    gain.worldsOf(replica.id)
    gain.plannedOf(replica.id)
    divergence.note(replica.id, { total: 1, stale_index: 1, routing: 0, tokenisation: 0 } as never)
    await fleet.set([engine('still')])
    fleet.tick()
    await new Promise((resolve) => setImmediate(resolve))
  }
  companions.clear()
  expect(gone).toEqual(Array.from({ length: 20 }, (_, round) => `pod-${round}`))
  expect(processed.sizesOn('tenant', ['1', 'shared'] as never, [1, 1]).size).toBe(0)
  expect(gone.map((id) => divergence.get(id))).toEqual(gone.map(() => undefined))
  for (let i = 0; i < 5; i++) {
    await pause(10)
    collect()
  }
  // the last may still be in a register or on the stack
  expect(released.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1)
  expect(replicas.all.map(({ id }) => id)).toEqual(['still'])
  await fleet.close(0)
})
