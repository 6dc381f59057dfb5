import { expect, test } from 'vitest'
import { at, exampleValues, find, type Manifest, mergeValues, render, type Values } from './render.ts'

test.each<[string, object, Values, RegExp]>([
  ['two stores', { existingClaim: 'c' }, {}, /store: give existingClaim or mooncake, not both/],
  ['a store for engines of others', {}, { mode: 'gateway' }, /store\.mooncake is for engines that the chart starts/],
  ['a master in a chart of one’s own', {}, { mode: 'library' }, /which mode library does not: .*plugin\.reuse\.remote/],
  ['a store without reuse', {}, { plugin: { reuse: null } }, /at any position, which is off: write plugin\.reuse/],
  ['a store without the plugin', {}, { plugin: { enabled: false } }, /plugin\.reuse needs the plugin/],
  [
    'a store and another',
    {},
    { plugin: { reuse: { remote: 'mooncake://m:1' } } },
    /store\.mooncake and plugin\.reuse\.remote are two stores/,
  ],
  ['segments of no size', { mooncake: { segmentSize: 'much' } }, {}, /segmentSize is much: write it like 4Gi/],
  [
    'less memory than what reuse takes',
    {},
    { engine: { resources: { limits: { memory: '16Gi' } } } },
    /engine\.resources\.limits\.memory is 16Gi, and reuse alone takes 25344Mi /,
  ],
  [
    'a folder that is not shared',
    { mooncake: { enabled: false } },
    { plugin: { reuse: { remote: 'file:///mnt/segments' } } },
    /plugin\.reuse\.remote is file:\/\/\/mnt\/segments, where .*store\.existingClaim/,
  ],
])('%s is refused, with what to write', (_, store, others, reason) => {
  expect(() => render(mergeValues(mergeValues(exampleValues('mooncake'), { store }), others))).toThrow(reason)
})

test.each([
  ['/mnt', {}, 'file:///mnt/segments'],
  ['/mnt/segments/', {}, 'file:///mnt/segments'],
  ['/other', { existingClaim: 'c' }, 'file:///home/engine/segments'],
])('a folder below %s, or in a home that is a claim, is taken', (mountPath, home, remote) => {
  const engine = { extraVolumeMounts: [{ name: 'mine', mountPath }], home }
  const values = mergeValues(exampleValues('vllm'), { plugin: { reuse: { remote } }, engine })
  expect(JSON.stringify(render(values))).toContain(remote)
})

test('Mooncake’s master runs the engine’s image, is not behind reprise’s Services, and only engines reach it', () => {
  const manifests = render(exampleValues('mooncake'))
  const { template } = find(manifests, 'Deployment', 'r-reprise-store').spec as {
    template: { metadata: Manifest['metadata']; spec: { containers: { image: string }[] } }
  }
  expect(template.spec.containers.map(({ image }) => image)).toEqual(['registry.example.com/vllm-mooncake:v0.32.0'])
  const engines = at(find(manifests, 'Deployment', 'r-reprise'), 'spec.selector.matchLabels')
  const master = at(find(manifests, 'Service', 'r-reprise-store'), 'spec.selector')
  expect(template.metadata.labels).toMatchObject(master as object)
  const ofProxy = at(find(manifests, 'Service', 'r-reprise'), 'spec.selector')
  expect(template.metadata.labels).not.toMatchObject(ofProxy as object)
  const policyOf = (name: string): unknown => find(manifests, 'NetworkPolicy', name).spec
  const from = [{ podSelector: { matchLabels: engines } }]
  expect(policyOf('r-reprise-store')).toMatchObject({
    podSelector: { matchLabels: master },
    ingress: [{ ports: [{ port: 50051 }], from }],
  })
  // engines read each other's memory at ports that Mooncake chooses
  expect(at(policyOf('r-reprise'), 'ingress')).toContainEqual({ from })
  expect(at(policyOf('r-reprise'), 'egress')).toEqual([
    { ports: [{ port: 53, protocol: 'UDP' }] },
    { to: from },
    { ports: [{ port: 50051, protocol: 'TCP' }], to: [{ podSelector: { matchLabels: master } }] },
  ])
})

test('a Mooncake of one’s own opens engines to each other, and starts no master', () => {
  const without = mergeValues(exampleValues('mooncake'), { store: { mooncake: { enabled: false } } })
  const manifests = render(mergeValues(without, { plugin: { reuse: { remote: 'mooncake://master.infra:50051' } } }))
  expect(manifests.filter(({ metadata }) => metadata.name === 'r-reprise-store')).toEqual([])
  const rule = { from: [{ podSelector: expect.anything() }] }
  expect(at(find(manifests, 'NetworkPolicy').spec, 'ingress[1]')).toEqual(rule)
  expect(at(find(render(without), 'NetworkPolicy').spec, 'ingress')).toHaveLength(1)
})
