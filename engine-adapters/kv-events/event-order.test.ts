import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventOrder } from './event-order.ts'
import type { KvEventBatch } from './kv-event.ts'

/** An engine that publishes batches, keeps some for replays, and can be restarted. */
class PublisherDouble {
  readonly #kept: number
  life = 0
  #clock = 0
  log: KvEventBatch[] = []

  constructor(kept = Number.POSITIVE_INFINITY) {
    this.#kept = kept
  }

  publish(events: KvEventBatch['events'] = []): [sequence: number, batch: KvEventBatch] {
    this.#clock += 1
    const batch = { time: this.#clock, events, unknown: 0 }
    this.log.push(batch)
    return [this.log.length - 1, batch]
  }

  restart(): void {
    this.life += 1
    this.log = []
  }

  answer(order: EventOrder, from: number): void {
    const first = Math.max(from, this.log.length - this.#kept)
    for (let i = first; i < this.log.length; i++) order.replayed(i, this.log[i]!)
    order.replayEnded()
  }

  /** Answers like a socket with a full queue: sends the first few batches, then drops some, and perhaps the end. */
  answerInPart(order: EventOrder, from: number): void {
    for (let i = Math.max(from, this.log.length - this.#kept); i < this.log.length; i++)
      if (i < from + 3 || i % 3 === 0) order.replayed(i, this.log[i]!)
    if (this.log.length % 2 === 0) order.replayEnded()
    else order.replayFailed()
  }
}

function follow(publisher: PublisherDouble, canReplay = true) {
  /** times of the batches whose effects the listener knows */
  let heard: number[] = []
  const lost: string[] = []
  const asked: number[] = []
  const order = new EventOrder(
    {
      onBatch: ({ time }) => heard.push(time),
      onLost: (reason) => {
        lost.push(reason)
        heard = []
      },
      askReplay: (from) => asked.push(from),
    },
    canReplay,
  )
  /** lets the engine answer all replay requests */
  const settle = (): void => {
    for (let from = asked.shift(); from !== undefined; from = asked.shift()) publisher.answer(order, from)
  }
  return { order, lost, asked, settle, heard: () => heard, all: () => publisher.log.map(({ time }) => time) }
}

/** What may happen between an engine and a subscriber. */
const steps: Record<string, (publisher: PublisherDouble, follower: ReturnType<typeof follow>) => void> = {
  heard: (publisher, { order }) => order.published(...publisher.publish()),
  dropped: (publisher) => void publisher.publish(),
  repeated: (publisher, { order }) => {
    const published = publisher.publish()
    order.published(...published)
    order.published(...published)
  },
  swapped: (publisher, { order }) => {
    const first = publisher.publish()
    order.published(...publisher.publish())
    order.published(...first)
  },
  old: ({ log }, { order }) => {
    if (log[0]) order.published(0, log[0])
  },
  restart: (publisher, { order }) => {
    publisher.restart()
    order.disconnected()
  },
  reconnect: (_publisher, { order }) => order.check(),
  answer: (_publisher, { settle }) => settle(),
  lossy: (publisher, { order, asked }) => {
    const from = asked.shift()
    if (from !== undefined) publisher.answerInPart(order, from)
  },
  broken: (_publisher, { order, asked }) => {
    if (asked.shift() !== undefined) order.replayFailed()
  },
}

describe('with replays', () => {
  test('one that joins late is told all', () => {
    const publisher = new PublisherDouble()
    publisher.publish()
    publisher.publish()
    const { order, settle, heard, all } = follow(publisher)
    order.check()
    settle()
    expect(order.state).toBe('whole')
    expect(heard()).toEqual(all())
  })

  test('one that joins when the engine has forgotten its beginning knows that', () => {
    const publisher = new PublisherDouble(2)
    for (let i = 0; i < 5; i++) publisher.publish()
    const { order, settle, heard, lost } = follow(publisher)
    order.check()
    settle()
    expect(heard()).toEqual([4, 5])
    expect({ state: order.state, lost }).toEqual({ state: 'incomplete', lost: [] })
    order.published(...publisher.publish([{ type: 'cleared' }]))
    expect(order.state).toBe('whole')
  })

  test('a gap is filled before what came behind it is taken', () => {
    const publisher = new PublisherDouble()
    const { order, settle, heard, all, asked } = follow(publisher)
    order.check()
    settle()
    order.published(...publisher.publish())
    publisher.publish()
    order.published(...publisher.publish())
    expect({ state: order.state, asked, gaps: order.gaps }).toEqual({ state: 'incomplete', asked: [0], gaps: 1 })
    order.published(...publisher.publish())
    settle()
    expect(heard()).toEqual(all())
    expect(order.state).toBe('whole')
  })

  test('a gap that the engine has forgotten is a loss', () => {
    const publisher = new PublisherDouble(1)
    const { order, settle, lost, heard } = follow(publisher)
    order.published(...publisher.publish())
    for (let i = 0; i < 3; i++) publisher.publish()
    order.published(...publisher.publish())
    settle()
    expect({ lost, state: order.state, heard: heard() }).toEqual({ lost: ['missed'], state: 'incomplete', heard: [5] })
  })

  test('an engine that was restarted while nobody heard is told by what it kept', () => {
    const publisher = new PublisherDouble()
    const { order, settle, lost, heard, all } = follow(publisher)
    for (let i = 0; i < 3; i++) order.published(...publisher.publish())
    order.disconnected()
    expect(order.state).toBe('incomplete')
    publisher.restart()
    for (let i = 0; i < 7; i++) publisher.publish()
    order.check()
    settle()
    expect(lost).toEqual(['restarted'])
    expect(heard()).toEqual(all())
    expect(order.state).toBe('whole')
  })

  test('an engine that was restarted and has published nothing since holds nothing', () => {
    const publisher = new PublisherDouble()
    const { order, settle, lost, heard } = follow(publisher)
    order.published(...publisher.publish())
    order.check()
    settle()
    publisher.restart()
    order.check()
    settle()
    expect({ lost, heard: heard(), state: order.state }).toEqual({ lost: ['restarted'], heard: [], state: 'whole' })
  })

  test('an engine that does not answer leaves what was heard, in doubt', () => {
    const publisher = new PublisherDouble()
    const { order, heard, settle } = follow(publisher)
    order.published(...publisher.publish())
    order.check()
    order.replayFailed()
    expect({ heard: heard(), state: order.state }).toEqual({ heard: [1], state: 'incomplete' })
    order.check()
    settle()
    expect(order.state).toBe('whole')
  })

  test('replays that lose batches on their way are asked for again from the first that is missing, until all are here', () => {
    const publisher = new PublisherDouble()
    for (let i = 0; i < 40; i++) publisher.publish()
    const { order, asked, heard, all, lost } = follow(publisher)
    order.check()
    const froms: number[] = []
    for (let from = asked.shift(); from !== undefined && froms.length < 100; from = asked.shift()) {
      froms.push(from)
      publisher.answerInPart(order, from)
    }
    expect({ heard: heard(), lost, state: order.state }).toEqual({ heard: all(), lost: [], state: 'whole' })
    expect(froms).toEqual(froms.toSorted((a, b) => a - b))
  })

  test('bursts in which every other batch is lost, and gaps follow upon gaps, lose nothing in the end', () => {
    const publisher = new PublisherDouble()
    const { order, settle, heard, all, lost } = follow(publisher)
    order.check()
    settle()
    for (let i = 0; i < 50; i++) {
      order.published(...publisher.publish())
      publisher.publish()
      if (i % 2 === 1) settle()
    }
    order.check()
    settle()
    expect({ heard: heard(), lost, state: order.state }).toEqual({ heard: all(), lost: [], state: 'whole' })
  })

  test('what could not be asked for while the engine did not answer is asked for when it does', () => {
    const publisher = new PublisherDouble()
    const { order, settle, asked, heard, all, lost } = follow(publisher)
    order.check()
    settle()
    order.published(...publisher.publish())
    publisher.publish()
    order.published(...publisher.publish())
    for (let from = asked.shift(); from !== undefined; from = asked.shift()) order.replayFailed()
    expect({ heard: heard(), lost, state: order.state }).toEqual({ heard: [3], lost: ['missed'], state: 'incomplete' })
    expect(order.isPastAskable).toBe(true)
    order.published(...publisher.publish())
    order.check()
    settle()
    expect({ heard: heard(), lost, state: order.state }).toEqual({
      heard: all(),
      lost: ['missed', 'found'],
      state: 'whole',
    })
    expect(order.isPastAskable).toBe(false)
  })

  test('a past that the engine has forgotten meanwhile is not asked for again and again', () => {
    const publisher = new PublisherDouble(3)
    const { order, settle, asked, heard } = follow(publisher)
    order.published(...publisher.publish())
    for (let i = 0; i < 9; i++) publisher.publish()
    order.published(...publisher.publish())
    for (let from = asked.shift(); from !== undefined; from = asked.shift()) order.replayFailed()
    expect(order.isPastAskable).toBe(true)
    order.check()
    settle()
    expect({ heard: heard(), isPastAskable: order.isPastAskable }).toEqual({ heard: [11], isPastAskable: false })
    order.published(...publisher.publish())
    order.check()
    expect(asked).toEqual([11])
  })

  test('a sequence that the engine never reached ends in no more than a few questions', () => {
    const publisher = new PublisherDouble()
    const { order, asked, settle, heard, all } = follow(publisher)
    order.check()
    settle()
    order.published(...publisher.publish())
    order.published(1_000, { time: 1, events: [], unknown: 0 })
    let questions = 0
    for (let from = asked.shift(); from !== undefined; from = asked.shift()) {
      order.published(...publisher.publish())
      publisher.answer(order, from)
      questions += 1
      expect(questions).toBeLessThan(12)
    }
    order.published(...publisher.publish())
    settle()
    expect({ heard: heard(), state: order.state }).toEqual({ heard: all(), state: 'whole' })
  })

  test('whatever is dropped, repeated or swapped, whatever of replays is lost, and however often the engine restarts, in the end all is known', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 60 }), (kinds) => {
        const publisher = new PublisherDouble()
        const follower = follow(publisher)
        const { order, settle, heard, all } = follower
        order.check()
        for (const kind of kinds) {
          steps[kind]!(publisher, follower)
          // known batches are of one life and have no gap
          const times = heard()
          expect(times).toEqual(times.map((_, i) => times[0]! + i))
          if (order.state === 'whole') expect(times).toEqual(all().slice(0, times.length))
        }
        settle()
        // silence: the order asks whether anything was missed
        for (let i = 0; i < 2; i++) {
          order.check()
          settle()
        }
        expect(heard()).toEqual(all())
        expect(order.state).toBe('whole')
      }),
      { numRuns: 5_000 },
    )
  })

  test('of an engine that keeps but some batches, what is known is of this life and without a gap', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 60 }),
        fc.integer({ min: 1, max: 6 }),
        (kinds, kept) => {
          const publisher = new PublisherDouble(kept)
          const follower = follow(publisher)
          const { order, settle } = follower
          order.check()
          for (const kind of kinds) steps[kind]!(publisher, follower)
          settle()
          order.check()
          settle()
          order.check()
          settle()
          const all = follower.all()
          const heard = follower.heard()
          expect(heard).toEqual(order.state === 'whole' ? all : all.slice(all.length - heard.length))
        },
      ),
      { numRuns: 5_000 },
    )
  })
})

describe('without replays', () => {
  test('all is known when the first batch was heard', () => {
    const publisher = new PublisherDouble()
    const { order } = follow(publisher, false)
    expect(order.state).toBe('silent')
    order.published(...publisher.publish())
    expect(order.state).toBe('whole')
  })

  test('a gap is a loss, and a repeat is none', () => {
    const publisher = new PublisherDouble()
    const { order, lost, heard } = follow(publisher, false)
    const first = publisher.publish()
    order.published(...first)
    order.published(...first)
    expect({ lost, heard: heard() }).toEqual({ lost: [], heard: [1] })
    publisher.publish()
    order.published(...publisher.publish())
    expect({ lost, heard: heard(), state: order.state }).toEqual({ lost: ['missed'], heard: [3], state: 'incomplete' })
  })

  test('a sequence that was seen, at a later time, is of another life', () => {
    const publisher = new PublisherDouble()
    const { order, lost, heard } = follow(publisher, false)
    for (let i = 0; i < 3; i++) order.published(...publisher.publish())
    publisher.restart()
    order.published(...publisher.publish())
    expect({ lost, heard: heard(), state: order.state }).toEqual({ lost: ['restarted'], heard: [4], state: 'whole' })
  })
})
