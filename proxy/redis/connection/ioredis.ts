import { Cluster, Redis, type RedisOptions } from 'ioredis'

/*
 * All of reprise imports ioredis from here. ioredis declares a subclass of String, which makes V8 turn String.prototype
 * into an object with slow properties. From then on every call of a string method takes some ten nanoseconds more, and
 * a loop over the characters of a prompt takes five times as long, whether Redis is used or not. V8 makes a prototype
 * fast again once methods of an object that inherits from it have been read often.
 */

export { Cluster, Redis, type RedisOptions }

const oftenEnough = 2_000

function readMethod(text: object): unknown {
  return (text as { charCodeAt?: unknown }).charCodeAt
}

const text: object = new String('')
for (let i = 0; i < oftenEnough; i++) readMethod(text)
