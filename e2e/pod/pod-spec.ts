import { find, type Manifest } from '../chart/render.ts'

/** As much of a pod as the chart says of it, in Kubernetes' own names. */
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
  /** `Always` on an init container: a native sidecar */
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

/** A pod as the Deployment of a rendered chart would make it, with the ConfigMaps beside it. */
export interface PodTemplate {
  readonly spec: PodSpec
  /** changes with what the pod is made of */
  readonly annotations: Readonly<Record<string, string>>
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** The pod template in what Helm has rendered. */
export function readPodTemplate(manifests: readonly Manifest[]): PodTemplate {
  const deployment = find(manifests, 'Deployment').spec as {
    template: { spec: PodSpec; metadata: { annotations: Record<string, string> } }
  }
  const { spec, metadata } = deployment.template
  return { spec, annotations: metadata.annotations, configMaps: readConfigMaps(manifests) }
}

/** The pod of `helm test`. */
export function readTestPod(manifests: readonly Manifest[]): PodTemplate {
  const pod = find(manifests, 'Pod') as unknown as { spec: Omit<PodSpec, 'terminationGracePeriodSeconds'> }
  return { spec: { terminationGracePeriodSeconds: 30, ...pod.spec }, annotations: {}, configMaps: {} }
}

function readConfigMaps(manifests: readonly Manifest[]): PodTemplate['configMaps'] {
  const maps = manifests.filter(({ kind }) => kind === 'ConfigMap')
  return Object.fromEntries(maps.map(({ metadata, data }) => [metadata.name, data ?? {}]))
}
