import type { ReplicaId } from '#index/context-block.ts'
import type { FoundEngine } from '../config/read-files.ts'
import type { Replica } from './replica.ts'
import type { ReplicaSet } from './replica-set.ts'

/** What accompanies a replica for as long as it is there. */
export interface Companion {
  start(): void
  /** Finishes what it can within the given time, then stops. */
  close(milliseconds: number): Promise<void>
  /** Stops, and removes what is kept of the replica elsewhere. */
  drop(): Promise<void>
}

interface FleetOptions {
  readonly create: (found: FoundEngine) => Replica
  /** Creates what accompanies a replica. Never rejects. */
  readonly accompany: (replica: Replica, found: FoundEngine) => Promise<readonly Companion[]>
  /** Finds out what must be known of replicas that have come beside others. Never rejects. */
  readonly join: () => Promise<void>
  /** Called with those that have come beside others, before they get requests. */
  readonly onJoined: (replicas: readonly Replica[]) => void
  /** Called when what is known under a name no longer holds: its engine is gone, or is another one. */
  readonly onGone: (id: ReplicaId) => void
}

interface Member {
  readonly found: FoundEngine
  readonly replica: Replica
  readonly companions: Promise<readonly Companion[]>
  /** resolves when its companions have stopped; undefined: they go on */
  dropped: Promise<unknown> | undefined
}

/**
 * The replicas of engines that come and go. One that leaves gets no more requests; those it has run to completion, and
 * then everything that is known of it is dropped. One that comes back before that goes on as it was.
 */
export class Fleet {
  readonly #replicas: ReplicaSet
  readonly #options: FleetOptions
  #members: ReadonlyMap<string, Member> = new Map()
  readonly #leaving = new Set<Member>()
  #isStarted = false

  constructor(replicas: ReplicaSet, options: FleetOptions) {
    this.#replicas = replicas
    this.#options = options
  }

  /** Makes these the engines that get requests. Resolves when those that have come get them, too. */
  async set(engines: readonly FoundEngine[]): Promise<void> {
    const before = this.#members
    const members = new Map(engines.map((found) => [found.engine.id, this.#memberFor(found)]))
    this.#members = members
    for (const member of before.values()) {
      if (isIn(members, member)) continue
      member.replica.isLeaving = true
      this.#leaving.add(member)
    }
    const coming = [...members.values()].filter((member) => !isIn(before, member))
    for (const { replica } of coming) replica.isJoining = before.size > 0
    this.#tell()
    await Promise.all(coming.map(({ companions }) => companions))
    if (before.size > 0 && coming.length > 0) {
      await this.#options.join()
      this.#options.onJoined(coming.map(({ replica }) => replica))
    }
    for (const { replica } of coming) replica.isJoining = false
    this.#tell()
  }

  /** Starts what accompanies replicas, those that come later included. */
  start(): void {
    this.#isStarted = true
    for (const { companions } of this.#members.values()) void companions.then(startAll)
  }

  /** Drops the replicas that are leaving and have no requests left. */
  tick(): void {
    for (const member of this.#leaving) if (member.replica.requests === 0) void this.#drop(member)
  }

  /** Stops everything within the given time. */
  async close(milliseconds: number): Promise<void> {
    const members = [...this.#members.values(), ...this.#leaving]
    await Promise.all(
      members.map(async ({ companions, replica }) => {
        await Promise.all((await companions).map((one) => one.close(milliseconds)))
        await replica.close()
      }),
    )
  }

  #memberFor(found: FoundEngine): Member {
    const { id, api_key, models } = found.engine
    const named = [...this.#members.values(), ...this.#leaving].filter((one) => one.found.engine.id === id)
    const same = named.find((one) => !one.dropped && isSame(one.found, found))
    if (!same) return this.#create(found, named)
    const { replica } = same
    replica.isLeaving = false
    replica.apiKey = api_key
    replica.setModels(models)
    replica.engine.setTls(found.tls)
    this.#leaving.delete(same)
    return same
  }

  /** `before`: replicas of the same name, whose companions must have stopped before those of this one start. */
  #create(found: FoundEngine, before: readonly Member[]): Member {
    const stopped = Promise.all(before.map((one) => this.#stop(one)))
    const replica = this.#options.create(found)
    if (before.length > 0) this.#options.onGone(replica.id)
    const companions = stopped.then(() => this.#options.accompany(replica, found))
    if (this.#isStarted) void companions.then(startAll)
    return { found, replica, companions, dropped: undefined }
  }

  async #drop(member: Member): Promise<void> {
    const { replica, found } = member
    this.#leaving.delete(member)
    this.#tell()
    await this.#stop(member)
    await replica.close()
    if (!this.#members.has(found.engine.id)) this.#options.onGone(replica.id)
  }

  #stop(member: Member): Promise<unknown> {
    member.dropped ??= member.companions.then((all) => Promise.all(all.map((one) => one.drop())))
    return member.dropped
  }

  #tell(): void {
    const members = [...this.#members.values()]
    const leaving = [...this.#leaving].filter(({ found }) => !this.#members.has(found.engine.id))
    this.#replicas.put([...members, ...leaving].map(({ replica }) => replica))
  }
}

/** Whether two engines are one: what differs otherwise can change while requests run. */
function isSame({ engine: a }: FoundEngine, { engine: b }: FoundEngine): boolean {
  return a.url === b.url && a.kind === b.kind && a.events === b.events && a.replay === b.replay
}

function isIn(members: ReadonlyMap<string, Member>, member: Member): boolean {
  return members.get(member.found.engine.id) === member
}

function startAll(companions: readonly Companion[]): void {
  for (const one of companions) one.start()
}
