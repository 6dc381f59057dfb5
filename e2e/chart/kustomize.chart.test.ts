import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { readPodTemplate } from '../pod/pod-spec.ts'
import { kustomizeFiles } from './kustomize-files.ts'
import { at, exampleValues, find, type Manifest, render } from './render.ts'
import { hasTool, root, toolPath } from './tools/tool-path.ts'

const components = join(root, 'charts', 'kustomize')

/** A Deployment that a user already has. */
const existing = (kind: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'llm', labels: { reprise: kind } },
  spec: {
    selector: { matchLabels: { app: 'llm' } },
    template: {
      metadata: { labels: { app: 'llm' } },
      spec: {
        containers: [
          { name: 'engine', image: 'engine:1', args: ['--model', 'm'], env: [{ name: 'MINE', value: 'kept' }] },
        ],
        volumes: [{ name: 'mine', emptyDir: {} }],
      },
    },
  },
})

test.each(['vllm', 'sglang'] as const)(
  'the files for %s are what the chart makes: `WRITE_KUSTOMIZE=1 npm run test:chart -- kustomize` mends them',
  (kind) => {
    for (const [name, text] of Object.entries(kustomizeFiles(kind))) {
      const file = join(components, kind, name)
      if (process.env.WRITE_KUSTOMIZE) writeFileSync(file, text)
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  },
)

describe.runIf(hasTool('bin', 'kustomize')).each(['vllm', 'sglang'] as const)('a Deployment of %s, patched', (kind) => {
  let folder: string
  let deployment: Manifest
  let manifests: Manifest[]

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-kustomize-'))
    cpSync(join(components, kind), join(folder, 'component'), { recursive: true })
    mkdirSync(join(folder, 'overlay'))
    writeFileSync(join(folder, 'overlay', 'deployment.yaml'), stringify(existing(kind)))
    const overlay = { resources: ['deployment.yaml'], components: ['../component'] }
    writeFileSync(join(folder, 'overlay', 'kustomization.yaml'), stringify(overlay))
    const built = execFileSync(toolPath('bin', 'kustomize'), ['build', join(folder, 'overlay')], { encoding: 'utf8' })
    manifests = parseAllDocuments(built).map((document) => document.toJS() as Manifest)
    deployment = find(manifests, 'Deployment')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('has reprise’s containers as the chart has them, beside all that it had', () => {
    const rendered = readPodTemplate(render(exampleValues(kind), { release: 'reprise' })).spec
    const pod = 'spec.template.spec.'
    expect(at(deployment, `${pod}initContainers`)).toEqual(rendered.initContainers)
    expect(at(deployment, `${pod}containers[0].env[name=MINE].value`)).toBe('kept')
    expect(at(deployment, `${pod}containers[0].env[name=REPRISE_CALLBACK_URL].value`)).toMatch(
      /^http:\/\/127\.0\.0\.1:9090/,
    )
    expect(at(deployment, `${pod}containers[0].args`)).toEqual([
      '--model',
      'm',
      ...(kind === 'vllm'
        ? ['--enable-prompt-tokens-details', expect.stringMatching(/^--kv-transfer-config=\{.*RepriseConnector/)]
        : ['--enable-cache-report', '--radix-cache-backend=reprise']),
    ])
    expect(at(deployment, `${pod}volumes[name=mine]`)).toEqual({ name: 'mine', emptyDir: {} })
  })

  test('is given the configuration under a name that changes with it', () => {
    const { metadata, data } = manifests.find(({ kind }) => kind === 'ConfigMap')!
    expect(metadata.name).toMatch(/^reprise-[a-z0-9]{10}$/)
    expect(at(deployment, 'spec.template.spec.volumes[name=reprise-config].configMap.name')).toBe(metadata.name)
    expect(data!['reprise.yaml']).toContain(`kind: ${kind}`)
  })
})
