import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ModelRouter } from './model-router.ts'
import type { Replica } from './replica.ts'
import { readModels, toStatedModels } from './served-models.ts'

type EngineDouble = Pick<Replica, 'models' | 'state'>

const names = ['a', 'b', 'c', 'd'] as const
const engines: fc.Arbitrary<EngineDouble[]> = fc.array(
  fc.record({
    models: fc.option(
      fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }).map((own) => toStatedModels(own)),
      { nil: undefined },
    ),
    state: fc.constantFrom('ready', 'unhealthy'),
  }),
  { minLength: 1, maxLength: 5 },
)
const model = fc.option(fc.constantFrom(...names, 'none'), { nil: undefined })

const keyOf = ({ models }: EngineDouble): string => (models ? [...models.names].sort().join() : '?')

test('a request goes to the engines that serve its model, or to those that may', () => {
  fc.assert(
    fc.property(engines, model, (all, wanted) => {
      const serving = new ModelRouter(() => all).serving(wanted)
      const isAlike = new Set(all.map(keyOf)).size === 1
      if (isAlike) {
        expect(serving).toBe(all)
        return
      }
      const known = all.filter(({ models }) => wanted !== undefined && models?.names.has(wanted))
      const silent = all.filter(({ models }) => models === undefined)
      if (known.length > 0) expect(serving).toEqual(known)
      else if (wanted !== undefined) expect(serving).toEqual(silent.length > 0 ? silent : undefined)
      // without a model: an engine that could answer the first one's requests, never one of another model
      else expect(serving).toContain(all[0])
    }),
  )
})

test('no engine gets a request for a model that it says it does not serve, unless all say the same', () => {
  fc.assert(
    fc.property(engines, fc.constantFrom(...names, 'none'), (all, wanted) => {
      const router = new ModelRouter(() => all)
      if (!router.isNeeded) return
      for (const { models } of router.serving(wanted) ?? []) expect(models?.names.has(wanted) ?? true).toBe(true)
    }),
  )
})

test('what a name stands for does not depend on the order of engines, and is one of its models', () => {
  fc.assert(
    fc.property(engines, fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }), (all, targets) => {
      const resolve = (own: readonly EngineDouble[]): string | undefined => {
        const router = new ModelRouter(() => own)
        router.aliases = new Map([['name', targets]])
        expect(router.targetOf('a')).toBeUndefined()
        return router.targetOf('name')
      }
      const target = resolve(all)!
      expect(targets).toContain(target)
      expect(resolve(all.toReversed())).toBe(target)
      const may = ({ models }: EngineDouble): boolean => models?.names.has(target) ?? true
      const isServedReady = (one: string): boolean =>
        all.some(({ models, state }) => state === 'ready' && (models?.names.has(one) ?? true))
      if (targets.some(isServedReady)) expect(all.some((own) => may(own) && own.state === 'ready')).toBe(true)
    }),
  )
})

test('the list has every model once, in the order of the engines, and the names that lead to one', () => {
  const router = new ModelRouter(() => [
    {
      models: readModels('{"data":[{"id":"a","root":"/m"},{"id":"lora","parent":"a"},{"id":7},null]}'),
      state: 'ready',
    },
    { models: undefined, state: 'ready' },
    { models: toStatedModels(['b', 'a']), state: 'ready' },
  ])
  router.aliases = new Map([
    ['gpt', ['none', 'b']],
    ['lost', ['none']],
    ['a', ['b']],
  ])
  expect(router.entries).toMatchObject([
    { id: 'a', root: '/m' },
    { id: 'lora', parent: 'a' },
    { id: 'b' },
    { id: 'gpt' },
  ])
  expect(router.entries).toHaveLength(4)
})

test('an adapter that is named behind its model goes to the engine of the model', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ models: toStatedModels([name]), state: 'ready' as const }))
  expect(new ModelRouter(() => [a!, b!]).serving('b:adapter')).toEqual([b])
})

test.each(['', '{', '[]', '{"data":[]}', '{"data":"a"}', '{"object":"error"}'])('%j lists no model', (text) => {
  expect(readModels(text)).toBeUndefined()
})
