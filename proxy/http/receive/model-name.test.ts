import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readModelName } from './model-name.ts'

const turn = (): Promise<void> => Promise.resolve()
const read = (body: string, type = 'application/json') => readModelName(Buffer.from(body), type, { take: turn })

test('only the name changes in a body, whatever surrounds it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.string(),
      async (rest, name, other) => {
        const body = JSON.stringify({ ...rest, model: name })
        const named = await read(body)
        expect(named?.name).toBe(name)
        expect(JSON.parse(named!.rename(other).toString())).toEqual({ ...JSON.parse(body), model: other })
        expect(named!.rename(name).toString()).toBe(body)
      },
    ),
  )
})

test('of several names the last counts, and all are replaced', async () => {
  const named = await read('{ "model":"a", "n": 1.0, "m\\u006fdel" : "b"}')
  expect(named?.name).toBe('b')
  expect(named?.rename('c').toString()).toBe('{ "model":"c", "n": 1.0, "m\\u006fdel" : "c"}')
})

test.each(['', '[]', '{}', '{"model":7}', '{"model":null}', '{"input":{"model":"a"}}', '{"model":"a'])(
  'no model is named in %j',
  async (body) => {
    expect(await read(body)).toBeUndefined()
  },
)

test('a form with a file names its model, before the file or after it', async () => {
  const form = new FormData()
  form.set('file', new File([Buffer.alloc(1_000, 200)], 'a.wav'))
  form.set('model', 'whisper')
  form.set('language', 'de')
  const request = new Request('http://engine', { method: 'POST', body: form })
  const type = request.headers.get('content-type')!
  const named = await readModelName(Buffer.from(await request.arrayBuffer()), type, { take: turn })
  expect(named?.name).toBe('whisper')
  const parsed = await new Response(new Uint8Array(named!.rename('large')), {
    headers: { 'content-type': type },
  }).formData()
  expect([parsed.get('model'), parsed.get('language'), (parsed.get('file') as File).size]).toEqual([
    'large',
    'de',
    1_000,
  ])
})

const boundary = 'b0'
const part = (disposition: string, value: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`
const form = (...parts: string[]) =>
  read(`${parts.join('')}--${boundary}--\r\n`, `Multipart/Form-Data; boundary=${boundary}`)

test('what a file holds, or is called, names no model', async () => {
  const file = part('name="file"; filename="a; name=model"', 'name="model"\r\n\r\nwrong\r\n--b')
  expect((await form(file, part('name="model"', 'right')))?.name).toBe('right')
  expect((await form(part('name="model"', 'right'), file))?.name).toBe('right')
  expect(await form(file, part('name="model"; filename="m"', 'file'), part('name="models"', 'other'))).toBeUndefined()
})

test('a line that only begins like the boundary ends no field', async () => {
  const longer = part(
    'name="other"',
    `x\r\n--${boundary}1\r\ncontent-disposition: form-data; name="model"\r\n\r\nwrong`,
  )
  expect((await form(longer, part('name="model"', `right\r\n--${boundary}-`)))?.name).toBe(`right\r\n--${boundary}-`)
})

test('of several fields of a form the last counts, and all are replaced', async () => {
  const named = await form(part('name=model', 'a'), part('NAME="model"', 'b'))
  expect(named?.name).toBe('b')
  expect(named?.rename('c').toString()).toBe(
    `${part('name=model', 'c')}${part('NAME="model"', 'c')}--${boundary}--\r\n`,
  )
})

test.each([
  ['no boundary', part('name="model"', 'a'), 'multipart/form-data'],
  ['another boundary', part('name="model"', 'a'), 'multipart/form-data; boundary=other'],
  ['no end', '--b0\r\ncontent-disposition: form-data; name="model"\r\n\r\na', 'multipart/form-data; boundary=b0'],
  ['no head', '--b0\r\n--b0--', 'multipart/form-data; boundary=b0'],
])('a form with %s names no model', async (_, body, type) => {
  expect(await read(body, type)).toBeUndefined()
})

test('a form of more parts than engines take is not read to its end', async () => {
  const many = (count: number): string[] => Array.from({ length: count }, () => part('name="x"', 'y'))
  expect((await form(...many(1_990), part('name="model"', 'a')))?.name).toBe('a')
  expect(await form(...many(2_000), part('name="model"', 'a'))).toBeUndefined()
})

test('a name that is too long is refused, in JSON and in a form', async () => {
  const name = 'm'.repeat(5_000)
  for (const reading of [() => read(JSON.stringify({ model: name })), () => form(part('name="model"', name))])
    await expect(reading()).rejects.toMatchObject({ code: 'invalid_body', message: expect.stringContaining('4096') })
  expect(await read(JSON.stringify({ model: [name] }))).toBeUndefined()
})
