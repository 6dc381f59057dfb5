import { expect, test } from 'vitest'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { Trip, type TripFollower } from './trip.ts'

function recorder(name: string, heard: string[], faulty: keyof TripFollower | undefined = undefined): TripFollower {
  const hear =
    (what: keyof TripFollower) =>
    (...told: unknown[]): void => {
      heard.push(`${name} ${what}${what === 'ended' ? ` ${told[0]}` : ''}`)
      if (what === faulty) throw new Error(`${name} at ${what}`)
    }
  return {
    sent: hear('sent'),
    onHead: hear('onHead'),
    onChunk: hear('onChunk'),
    used: hear('used'),
    ended: hear('ended'),
  }
}

const steps = ['sent', 'onHead', 'onChunk', 'used', 'ended'] as const

test.each(steps)('a fault in one follower at %s keeps no other from hearing of anything', (faulty) => {
  const faults: unknown[] = []
  const heard: string[] = []
  const trip = new Trip((error) => faults.push((error as Error).message))
  for (const name of ['a', 'b', 'c']) trip.follow(recorder(name, heard, name === 'b' ? faulty : undefined))
  trip.follow(undefined)
  trip.tell('sent', {} as EngineRequest)
  expect(trip.hasHead).toBe(false)
  trip.tell('onHead', 200, {})
  expect(trip.hasHead).toBe(true)
  trip.tell('onChunk', Buffer.from('x'))
  trip.wasRun = true
  trip.tell('used', { promptTokens: 1 } as never)
  trip.tell('ended', trip.wasRun)
  const before = steps.slice(0, -1).flatMap((step) => ['a', 'b', 'c'].map((name) => `${name} ${step}`))
  expect(heard).toEqual([...before, 'c ended true', 'b ended true', 'a ended true'])
  expect(faults).toEqual([`b at ${faulty}`])
})

test('what is added later hears of what follows', () => {
  const heard: string[] = []
  const trip = new Trip(() => {})
  trip.follow(recorder('a', heard))
  trip.tell('sent', {} as EngineRequest)
  trip.follow(recorder('b', heard))
  trip.tell('ended', trip.wasRun)
  expect(heard).toEqual(['a sent', 'b ended false', 'a ended false'])
})
