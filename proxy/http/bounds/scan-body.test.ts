import { hash } from 'node:crypto'
import { array, assert, asyncProperty, constantFrom, json, oneof, record, string } from 'fast-check'
import { expect, test } from 'vitest'
import { scanBody } from './scan-body.ts'
import { decidingMembers, WholeBody } from './whole-body.ts'

const turn = async (): Promise<void> => {}
const scan = (text: string) => scanBody(Buffer.from(text), decidingMembers, { take: turn })
/** Returns a body with the given members set. */
const write = async (text: string, members: Record<string, unknown>): Promise<string> => {
  return Buffer.concat(new WholeBody(await scan(text)).write(members)).toString()
}

test.each([
  ['{"a":1}', '{"kv_transfer_params":{"reprise":{"user":"u"}},"a":1}'],
  [
    '{"kv_transfer_params":{"x":1.0,"reprise":{"user":"me"}}}',
    '{"kv_transfer_params":{"x":1.0,"reprise":{"user":"u"}}}',
  ],
  ['{"kv_transfer_params":null}', '{"kv_transfer_params":{"reprise":{"user":"u"}}}'],
])('of wishes, what must be set is: %s', async (text, expected) => {
  const body = new WholeBody(await scan(text))
  const wish = { member: 'kv_transfer_params', own: 'reprise', value: { reuse: 0.5 } }
  expect(Buffer.concat(body.write({}, [wish])).toString()).toBe(text)
  expect(Buffer.concat(body.write({}, [{ ...wish, set: { user: 'u' } }])).toString()).toBe(expected)
})

function countContainers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce<number>((sum, inner) => sum + countContainers(inner), 0)
}

function countCommas(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return Math.max(0, inner.length - 1) + inner.reduce<number>((sum, one) => sum + countCommas(one), 0)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('counts what JSON.parse would make of a body, whatever it holds', async () => {
  const body = oneof(
    json(),
    json({ stringUnit: constantFrom('"', '\\', '{', ']', '<', '\n', ':', ',', 'é', '𐐷', 'a') }),
  )
  await assert(
    asyncProperty(body, async (text) => {
      const found = await scan(text)
      const value = JSON.parse(text)
      expect(found).toMatchObject({ containers: countContainers(value), depth: depthOf(value), isWhole: true })
      // JSON.parse keeps only one of duplicate names
      if (JSON.stringify(value) === text) expect(found.commas).toBe(countCommas(value))
      expect(found.digest()).toBe(hash('sha256', text, 'base64url'))
    }),
  )
})

test('sets members as JSON.parse reads them, duplicates too, and leaves every other byte as it was', async () => {
  const inner = record(
    { messages: json(), cache_salt: json(), rid: json(), 'cache_salt ': json() },
    { requiredKeys: [] },
  )
  await assert(
    asyncProperty(inner, string(), constantFrom('', ' ', '\n\t'), async (members, salt, space) => {
      const written = Object.entries(members).map(
        ([name, value]) => `${space}${JSON.stringify(name)}${space}:${space}${value}${space}`,
      )
      const text = `${space}{${written.join(',')}}${space}`
      const sent = await write(text, { cache_salt: salt })
      expect(JSON.parse(sent)).toEqual({ ...JSON.parse(text), cache_salt: salt })
      expect((await write(sent, { cache_salt: 'other' })).length - sent.length).toBe(
        JSON.stringify('other').length - JSON.stringify(salt).length,
      )
    }),
  )
})

test.each([
  ['{"cache_salt":"a","m":1,"cache_salt":"b"}', '{"cache_salt":"x","m":1,"cache_salt":"x"}'],
  ['{"cache\\u005fsalt":"a"}', '{"cache\\u005fsalt":"x"}'],
  ['{"m":{"cache_salt":"a"},"n":["cache_salt"]}', '{"cache_salt":"x","m":{"cache_salt":"a"},"n":["cache_salt"]}'],
  ['{}', '{"cache_salt":"x"}'],
  ['\uFEFF{"m":"cache_salt"}', '\uFEFF{"cache_salt":"x","m":"cache_salt"}'],
  ['{"cache_salt": {"a": [1, "}"]} , "m": 1.5e3 }', '{"cache_salt": "x" , "m": 1.5e3 }'],
])('the salt of %s is set wherever an engine reads one', async (text, sent) => {
  expect(await write(text, { cache_salt: 'x' })).toBe(sent)
})

test.each(['{', '{"a":"', '{"a":[}', '{}}', '{} {}', '', '{"a":"\\"}'])('%j is not whole', async (text) => {
  expect((await scan(text)).isWhole).toBe(false)
})

test('strings of a light body are passed over to the same quotes as those of a heavy one are read to', async () => {
  const unit = constantFrom('\\\\', '\\"', '\\n', '<', 'é', 'a'.repeat(40), '{', ']', ',')
  const padding = `{"pad":"${' '.repeat(300 * 1024)}","b":`
  await assert(
    asyncProperty(array(string({ unit, maxLength: 30 })), async (strings) => {
      const body = `[${strings.map((text) => `"${text}"`).join()}]`
      const { containers, strings: found, commas, depth } = await scan(body)
      const light = {
        containers: containers + 1,
        strings: found + 3,
        commas: commas + 1,
        depth: depth + 1,
        isWhole: true,
      }
      expect(await scan(`${padding}${body}}`)).toMatchObject(light)
      expect(found).toBe(strings.length)
    }),
  )
})

test('a run of escapes is passed over once, however long it is', async () => {
  let read = 0
  const bytes = new Proxy(Buffer.from(`["${'\\\\'.repeat(1_000)}"]`), {
    get: (target, name) => {
      if (/^\d+$/.test(String(name))) read += 1
      const own = Reflect.get(target, name)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
  const found = await scanBody(bytes, decidingMembers, { take: turn })
  expect(found).toMatchObject({ strings: 1, isWhole: true })
  expect(read).toBeLessThan(3 * bytes.length)
})

test('slices of a large body make no difference, wherever they fall', async () => {
  const text = JSON.stringify({
    messages: Array.from({ length: 60_000 }, (_, i) => ({ role: 'user', content: `\\"${i}\n` })),
  })
  let turns = 0
  const sliced = await scanBody(Buffer.from(text), decidingMembers, {
    take: async () => {
      turns += 1
    },
  })
  expect(turns).toBeGreaterThan(3)
  expect(sliced).toMatchObject({ containers: 60_002, isWhole: true, marks: 60_000 })
})
