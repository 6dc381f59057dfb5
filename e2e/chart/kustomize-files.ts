import { stringify } from 'yaml'
import type { Container, PodSpec } from '../pod/pod-spec.ts'
import { find, render } from './render.ts'

const note = "# Written by the chart's tests (kustomize.chart.test.ts) from charts/reprise: change it there.\n"
/** Arguments that an existing Deployment already sets itself. */
const decided = /^--(host|port)=/

/**
 * Returns the files of charts/kustomize/`kind` by name: what the chart adds to an engine, as patches for a Deployment.
 */
export function kustomizeFiles(kind: 'vllm' | 'sglang'): Record<string, string> {
  const values = { mode: 'sidecar', engine: { kind, image: { repository: kind, tag: 'any' }, model: 'any' } }
  const manifests = render(values, { release: 'reprise' })
  const { template } = find(manifests, 'Deployment').spec as { template: { spec: PodSpec } }
  const [engine] = template.spec.containers
  const args = engine!.args!.filter((arg) => arg.startsWith('--') && !decided.test(arg) && !arg.includes('model'))
  const { data } = find(manifests, 'ConfigMap', 'reprise')
  return {
    'sidecar.yaml': note + stringify(toPatch(template.spec, engine!)),
    'args.yaml':
      note + stringify(args.map((value) => ({ op: 'add', path: '/spec/template/spec/containers/0/args/-', value }))),
    'reprise.yaml': note + data!['reprise.yaml'],
  }
}

function toPatch(spec: PodSpec, { env = [], lifecycle, volumeMounts = [] }: Container): object {
  const ours = (name: string): boolean => name.startsWith('reprise')
  const engine = {
    // placeholder: the user replaces it with the name of their engine's container
    name: 'engine',
    env: env.filter(({ name }) => name === 'PYTHONPATH' || name.startsWith('REPRISE_')),
    lifecycle,
    volumeMounts: volumeMounts.filter(({ name }) => ours(name)),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'any' },
    spec: {
      template: {
        spec: {
          enableServiceLinks: false,
          terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
          initContainers: spec.initContainers,
          containers: [engine],
          volumes: spec.volumes!.filter(({ name }) => ours(name)),
        },
      },
    },
  }
}
