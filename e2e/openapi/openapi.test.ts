import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { createAdminApp } from '#proxy/admin/admin-app.ts'
import { openApiDocument } from './document.ts'

const document = openApiDocument()

test('the published document is that of the product: `npm run openapi` writes it', () => {
  const published = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'openapi.json'), 'utf8')
  expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(document)))
})

test('it has every route of the admin listener and no other', () => {
  // routes are only added here, and none is called
  const { routes } = createAdminApp({ pipeline: {} } as never, {} as never)
  const served = routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  expect(described.toSorted()).toEqual([...new Set(served)].toSorted())
})

test('each of its schemas can be compiled, those of bodies included', () => {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, 'file-path': true } }).addSchema(
    document,
    'api',
  )
  const schemas = [...JSON.stringify(document).matchAll(/"#(\/components\/schemas\/\w+)"/g)].map(([, path]) => path!)
  for (const path of new Set(schemas)) expect(ajv.getSchema(`api#${path}`)).toBeTypeOf('function')
  const bodies = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods) as { requestBody?: { content: object } }[])
    .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}) as { schema: object }[])
  expect(bodies.length).toBeGreaterThan(5)
  for (const { schema } of bodies) expect(ajv.validateSchema(schema)).toBe(true)
})
