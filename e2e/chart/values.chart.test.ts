import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { at, find, mergeValues, render, type Values } from './render.ts'
import { bases, pairs, rows } from './value-rows.ts'
import { valuesSchema } from './values-schema.ts'

test.each([...rows, ...pairs])('%s', (path, base, value, where, expected, beside: Values = {}) => {
  const under = mergeValues(bases[base], beside)
  const change = path.split('.').reduceRight<unknown>((below, key) => ({ [key]: below }), value) as Values
  const before = read(under, where)
  const after = read(mergeValues(under, change), where)
  expect(after).toEqual(
    typeof expected === 'object' && expected !== null && 'valueFrom' in expected
      ? { name: expect.any(String), ...expected }
      : expected,
  )
  expect(after).not.toEqual(before)
})

/** Reads a value from an object: `Kind[/name] path`. A path after ` > ` leads into the YAML text found there. */
function read(values: Values, where: string): unknown {
  const [, kind, name, path, inside] = /^(\w+)(?:\/([\w-]+))?(?: ([^>]+?))?(?: > (.+))?$/.exec(where)!
  const manifests = render(values)
  if (path === undefined)
    return manifests.find((one) => one.kind === kind && (name ?? one.metadata.name) === one.metadata.name)
  const isThere = manifests.some((one) => one.kind === kind && (name ?? one.metadata.name) === one.metadata.name)
  const found = isThere ? at(find(manifests, kind!, name), path) : undefined
  return inside === undefined ? found : at(parse(found as string), inside)
}

test('every value has a row', () => {
  const { global: _, ...own } = (valuesSchema() as Node).properties!
  // these are passed on as one object each
  const plugin = { properties: { ...own.plugin!.properties, reuse: {}, pages: {} } }
  const mooncake = { properties: { ...own.store!.properties!.mooncake!.properties, options: {} } }
  const store = { properties: { ...own.store!.properties, mooncake } }
  const leaves = leavesOf({ properties: { ...own, plugin, store, config: {}, engines: {} } })
  const tested = [...rows, ...pairs].map(([path]) => path)
  expect(leaves.filter((path) => !tested.includes(path))).toEqual([])
  expect(tested.filter((path) => !leaves.includes(path))).toEqual([])
})

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
}

function leavesOf(schema: Node, path: readonly string[] = []): string[] {
  if (!schema.properties) return [path.join('.')]
  return Object.entries(schema.properties).flatMap(([key, below]) => leavesOf(below, [...path, key]))
}
