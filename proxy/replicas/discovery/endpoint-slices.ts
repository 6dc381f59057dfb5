import { setTimeout as pause } from 'node:timers/promises'
import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { EngineConfig } from '../../config/config.ts'
import type { KubernetesApi } from './kubernetes-api.ts'
import type { EnginePlace } from './resolve-engine.ts'

/** How long to wait before the API is asked again after a fault, or a watch that was short: twice as long each time. */
const pauses = { least: 1_000, most: 30_000 }
/** A watch that ends sooner was of no use. */
const shortMilliseconds = 1_000

/** The EndpointSlices of one Service, kept up to date. */
interface Watched {
  readonly closing: AbortController
  /** by name; undefined: not listed yet */
  slices: Map<string, Json> | undefined
  /** why they cannot be followed now */
  fault: Error | undefined
  /** resolves when they were listed, or could not be */
  first: Promise<void>
}

/**
 * Knows the pods behind Services of Kubernetes from their EndpointSlices, by one watch for each Service. A pod that is
 * not ready, or terminates, is no longer there.
 */
export class EndpointSlices {
  readonly #api: () => KubernetesApi
  readonly #onChange: () => void
  readonly #watched = new Map<string, Watched>()

  /** `api` may throw: the reason is told when engines are resolved. `onChange`: resolve again. */
  constructor(api: () => KubernetesApi, onChange: () => void) {
    this.#api = api
    this.#onChange = onChange
  }

  /** Returns where the pods behind the Service in an engine's URL are now. Rejects if that is not known now. */
  async resolve({ url }: Pick<EngineConfig, 'url'>): Promise<EnginePlace[]> {
    const { hostname, port } = new URL(url)
    let watched = this.#watched.get(hostname)
    if (!watched) {
      const closing = new AbortController()
      watched = { closing, slices: undefined, fault: undefined, first: Promise.resolve() }
      this.#watched.set(hostname, watched)
      const own = watched
      own.first = new Promise((resolve) => void this.#follow(hostname, own, resolve))
    }
    await watched.first
    if (watched.fault) throw watched.fault
    return placesOf([...(watched.slices?.values() ?? [])], port)
  }

  /** Follows the Services in these engines' URLs only. */
  retain(engines: readonly Pick<EngineConfig, 'url'>[]): void {
    const names = new Set(engines.map(({ url }) => new URL(url).hostname))
    for (const [name, { closing }] of this.#watched) {
      if (names.has(name)) continue
      closing.abort()
      this.#watched.delete(name)
    }
  }

  async #follow(hostname: string, watched: Watched, onFirst: () => void): Promise<void> {
    const { signal } = watched.closing
    let wait = pauses.least
    let version: string | undefined
    while (!signal.aborted) {
      let began: number | undefined
      try {
        const api = this.#api()
        const path = await pathOf(hostname, api)
        if (version === undefined) {
          const listed = await api.list(path, signal)
          watched.slices = new Map(listed.items.map((slice) => [nameOf(slice), slice]))
          version = listed.version
        }
        watched.fault = undefined
        onFirst()
        this.#onChange()
        began = performance.now()
        version = await api.watch(path, version, (change) => this.#take(watched, change), signal)
      } catch (error) {
        // what was missed is listed
        version = undefined
        watched.fault = error as Error
        onFirst()
      }
      const isShort = began === undefined || performance.now() - began < shortMilliseconds
      if (!isShort) wait = pauses.least
      if (!isShort && version !== undefined) continue
      await pause(wait, undefined, { signal, ref: false }).catch(() => {})
      wait = Math.min(2 * wait, pauses.most)
    }
  }

  #take({ slices }: Watched, { type, object }: { readonly type: string; readonly object: Json }): void {
    if (type === 'DELETED') slices?.delete(nameOf(object))
    else slices?.set(nameOf(object), object)
    this.#onChange()
  }
}

/** The path of a Service's slices: SERVICE, SERVICE.NAMESPACE, or with `.svc` and the cluster's domain behind it. */
async function pathOf(hostname: string, api: KubernetesApi): Promise<string> {
  const [service, namespace = await api.namespace()] = hostname.split('.')
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`)
  return `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`
}

function nameOf({ metadata }: Json): string {
  return isObject(metadata) ? String(metadata.name) : ''
}

/** Returns a place for each pod that is ready, whatever the number of its addresses; IPv4 is preferred. */
function placesOf(slices: readonly Json[], port: string): EnginePlace[] {
  const places = new Map<string, EnginePlace>()
  const families = slices.toSorted((a, b) => (String(a.addressType) < String(b.addressType) ? -1 : 1))
  for (const slice of families) {
    const own = port || String(objectsIn(slice.ports).find((one) => typeof one.port === 'number')?.port ?? '')
    for (const endpoint of objectsIn(slice.endpoints)) {
      const place = isReady(endpoint) ? placeOf(endpoint, slice.addressType === 'IPv6', own) : undefined
      const pod = place?.name ?? place?.host
      if (place && !places.has(pod!)) places.set(pod!, place)
    }
  }
  return [...places.values()]
}

function placeOf({ addresses, targetRef }: Json, isIPv6: boolean, port: string): EnginePlace | undefined {
  // the API allows several, and its documentation says to use the first
  const address: unknown = Array.isArray(addresses) ? addresses[0] : undefined
  if (typeof address !== 'string') return undefined
  const name = isObject(targetRef) && typeof targetRef.name === 'string' ? targetRef.name : undefined
  return { host: isIPv6 ? `[${address}]` : address, port, name }
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** What is not stated is so by the API's own rules: ready and serving, and not terminating. */
function isReady({ conditions }: Json): boolean {
  const { ready, serving, terminating } = isObject(conditions) ? conditions : {}
  return ready !== false && serving !== false && terminating !== true
}
