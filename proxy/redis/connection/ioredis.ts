import { Cluster, Redis, type RedisOptions } from 'ioredis'

/*
 * ioredis as all of reprise imports it. It declares a subclass of String, at which V8 turns String.prototype into an object
 * of slow properties: from then on every call of a string's method takes some ten nanoseconds more, and a loop over the
 * characters of a prompt five times as long, Redis or not. V8 makes a prototype fast again once methods of an object
 * that has it are read often.
 */

export { Cluster, Redis, type RedisOptions }

const oftenEnough = 2_000

function readMethod(text: object): unknown {
  return (text as { charCodeAt?: unknown }).charCodeAt
}

const text: object = new String('')
for (let i = 0; i < oftenEnough; i++) readMethod(text)
