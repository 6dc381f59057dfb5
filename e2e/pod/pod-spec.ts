import { find, type Manifest } from '../chart/render.ts'

/** The parts of a pod spec that the chart sets, in Kubernetes' own names. */
export interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes?: readonly Volume[]
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly Variable[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: readonly string[] } } }
  /** `Always` on an init container makes it a native sidecar */
  readonly restartPolicy?: 'Always'
}

export interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
  readonly exec?: { readonly command: readonly string[] }
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
}

export interface Volume {
  readonly name: string
  readonly configMap?: { readonly name: string }
  readonly emptyDir?: object
}

/** A pod as the Deployment of a rendered chart would create it, with the chart's ConfigMaps. */
export interface PodTemplate {
  readonly spec: PodSpec
  /** includes checksums that change with the pod's configuration */
  readonly annotations: Readonly<Record<string, string>>
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Reads the pod template from the rendered manifests. */
export function readPodTemplate(manifests: readonly Manifest[]): PodTemplate {
  const deployment = find(manifests, 'Deployment').spec as {
    template: { spec: PodSpec; metadata: { annotations: Record<string, string> } }
  }
  const { spec, metadata } = deployment.template
  return { spec, annotations: metadata.annotations, configMaps: readConfigMaps(manifests) }
}

/** Reads the pod of `helm test` from the rendered manifests. */
export function readTestPod(manifests: readonly Manifest[]): PodTemplate {
  const pod = find(manifests, 'Pod') as unknown as { spec: Omit<PodSpec, 'terminationGracePeriodSeconds'> }
  return { spec: { terminationGracePeriodSeconds: 30, ...pod.spec }, annotations: {}, configMaps: {} }
}

function readConfigMaps(manifests: readonly Manifest[]): PodTemplate['configMaps'] {
  const maps = manifests.filter(({ kind }) => kind === 'ConfigMap')
  return Object.fromEntries(maps.map(({ metadata, data }) => [metadata.name, data ?? {}]))
}
