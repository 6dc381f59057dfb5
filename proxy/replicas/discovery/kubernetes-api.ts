import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dispatcher } from 'undici'
import { isObject, type Json, tryObject } from '#engine-adapters/json-object.ts'
import { splitLines } from '../../common/json/split-lines.ts'

/** Where the API of the cluster is reached, and who we are there. */
export interface KubernetesAccess {
  readonly url: string
  /** has the pod's `token`, `ca.crt` and `namespace` */
  readonly folder: string
}

/** What the API answers if a version is too old to be watched from. */
const gone = 410
/** The API ends a watch after this long. */
const watchSeconds = 60
/** A watch that says nothing for so long is lost: its connection is half open. */
const silentSeconds = watchSeconds + 10

/** Returns how a pod reaches the API of its cluster. Throws outside of one. */
export function inClusterAccess(env: NodeJS.ProcessEnv = process.env): KubernetesAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (!host) throw new Error('this is no pod of a cluster: KUBERNETES_SERVICE_HOST is not set')
  const named = host.includes(':') ? `[${host}]` : host
  return { url: `https://${named}:${port}`, folder: '/var/run/secrets/kubernetes.io/serviceaccount' }
}

/** What a watch says: an object that was `ADDED`, `MODIFIED` or `DELETED`. */
interface KubernetesChange {
  readonly type: string
  readonly object: Json
}

/** Lists and watches objects of a cluster. The token and the authorities are read for each request: they are renewed. */
export class KubernetesApi {
  readonly #access: KubernetesAccess
  readonly #listMilliseconds: number

  /** `listMilliseconds`: how long an answer to `list` may take. */
  constructor(access: KubernetesAccess, listMilliseconds = 10_000) {
    this.#access = access
    this.#listMilliseconds = listMilliseconds
  }

  /** The namespace that the pod is in. */
  async namespace(): Promise<string> {
    return (await readFile(join(this.#access.folder, 'namespace'), 'utf8')).trim()
  }

  /**
   * Lists what a path has, and from which version its changes can be watched. Throws if the API refuses, or does not
   * answer in time.
   */
  async list(path: string, signal: AbortSignal): Promise<{ items: readonly Json[]; version: string }> {
    const late = AbortSignal.timeout(this.#listMilliseconds)
    try {
      return await this.#get(path, AbortSignal.any([signal, late]), async (body) => {
        const { items, metadata } = (await body.json()) as { items?: Json[]; metadata?: Json }
        return { items: items ?? [], version: String(metadata?.resourceVersion ?? '') }
      })
    } catch (error) {
      if (!late.aborted) throw error
      throw new Error(`the Kubernetes API does not answer within ${this.#listMilliseconds / 1000} s`, { cause: error })
    }
  }

  /**
   * Watches what has changed since a version, until the API ends it. Returns the version to go on from; undefined: it is
   * too old, so list again. Throws if the API refuses, or the connection is lost.
   */
  async watch(
    path: string,
    from: string,
    onChange: (change: KubernetesChange) => void,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(from)}&timeoutSeconds=${watchSeconds}`
    try {
      return await this.#get(`${path}&${query}`, signal, (body) => readChanges(body, from, onChange))
    } catch (error) {
      if (error instanceof RefusedError && error.status === gone) return undefined
      throw error
    }
  }

  async #get<Result>(
    path: string,
    signal: AbortSignal,
    read: (body: Dispatcher.ResponseData['body']) => Promise<Result>,
  ): Promise<Result> {
    const { url, folder } = this.#access
    const [token, ca] = await Promise.all(
      ['token', 'ca.crt'].map((name) => readFile(join(folder, name), 'utf8').catch(() => undefined)),
    )
    // loaded late: most proxies ask no cluster
    const { Agent, request } = await import('undici')
    const connections = new Agent({ connect: { ca }, bodyTimeout: silentSeconds * 1000 })
    try {
      const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token.trim()}` } : {}) }
      const { statusCode, body } = await request(url + path, { headers, signal, dispatcher: connections })
      if (statusCode === 200) return await read(body)
      throw new RefusedError(statusCode, await body.text())
    } finally {
      await connections.destroy()
    }
  }
}

/** Reads a watch to its end, a line for each change. Returns the last version; throws if it has an error, or no change. */
async function readChanges(
  body: Dispatcher.ResponseData['body'],
  from: string,
  onChange: (change: KubernetesChange) => void,
): Promise<string> {
  let version = from
  for await (const line of splitLines(body)) {
    const change = tryObject(line)
    if (!isObject(change?.object))
      throw new Error(`the Kubernetes API sends what is no change of an object: ${line.slice(0, 300)}`)
    const [type, object] = [String(change.type), change.object]
    if (type === 'ERROR') throw new RefusedError(Number(object.code), String(object.message))
    const { resourceVersion } = isObject(object.metadata) ? object.metadata : {}
    if (typeof resourceVersion === 'string') version = resourceVersion
    if (type !== 'BOOKMARK') onChange({ type, object })
  }
  return version
}

class RefusedError extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(`the Kubernetes API answers ${status}: ${text.slice(0, 300)}`)
    this.status = status
  }
}
