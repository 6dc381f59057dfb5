import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPodTemplate } from '../pod/pod-spec.ts'
import { at, exampleValues, find, type Manifest, render } from './render.ts'
import { chart } from './tools/tool-path.ts'

let folder: string
let manifests: Manifest[]

// a user's own chart that depends on this one
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-parent-'))
  cpSync(join(import.meta.dirname, 'fixtures', 'parent'), folder, { recursive: true })
  cpSync(chart, join(folder, 'charts', 'reprise'), { recursive: true })
  manifests = render({}, { chart: folder })
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a chart of one’s own that includes the library’s templates gets the same sidecar as the ready Deployment', () => {
  const { initContainers } = readPodTemplate(render(exampleValues('vllm'))).spec
  const own = readPodTemplate(manifests)
  expect(own.spec.initContainers).toEqual(initContainers)
  const [engine] = own.spec.containers
  expect(engine).toMatchObject({
    args: expect.arrayContaining(['--host=127.0.0.1', '--enable-prompt-tokens-details']),
    env: expect.arrayContaining([{ name: 'REPRISE_CALLBACK_URL', value: 'http://127.0.0.1:9090/v1/replicas/mine' }]),
    volumeMounts: [{ name: 'reprise-plugin', mountPath: '/opt/reprise/plugins', readOnly: true }],
  })
  expect(own.configMaps['r-reprise']!['reprise.yaml']).toContain('id: mine')
  const mounted = new Set(
    own.spec.initContainers!.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)),
  )
  expect([...mounted].filter((name) => !own.spec.volumes!.some((volume) => volume.name === name))).toEqual([])
})

test('nothing else is made beside the ConfigMap, and nothing else is named', () => {
  expect(at(find(manifests, 'Deployment'), 'spec.template.spec.serviceAccountName')).toBe('default')
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
    'ConfigMap r-reprise',
    'Deployment mine',
  ])
})
