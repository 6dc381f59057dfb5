import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesAccess } from './kubernetes-api.ts'

/** A pod in a slice of the double. */
export interface PodDouble {
  readonly name: string
  readonly address: string
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
}

/**
 * A double of the Kubernetes API that knows the EndpointSlices of one namespace: it lists and watches them, sends bookmarks,
 * ends watches, and forgets versions.
 */
export class KubernetesApiDouble {
  readonly #server = createServer((request, response) =>
    this.#answer(new URL(request.url!, 'http://api'), request.headers, response),
  )
  readonly #folder = mkdtempSync(join(tmpdir(), 'reprise-kubernetes-'))
  readonly #slices = new Map<string, object>()
  readonly #changes: { readonly version: number; readonly line: object }[] = []
  readonly #watching = new Set<{ readonly response: ServerResponse; readonly selector: string }>()
  #version = 1
  #oldest = 0
  /** each request: its path and its query */
  readonly asked: string[] = []
  /** undefined: it answers; a status: it refuses with it */
  refuses: number | undefined
  /** it ends each watch as soon as it begins */
  endsWatches = false

  /** Starts it on a free port; `token`: what it expects. */
  async start(token = 'secret-1'): Promise<KubernetesAccess> {
    this.renew(token)
    writeFileSync(join(this.#folder, 'namespace'), 'ai\n')
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return { url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, folder: this.#folder }
  }

  /** Replaces the token, in the pod's file and here. */
  renew(token: string): void {
    writeFileSync(join(this.#folder, 'token'), `${token}\n`)
    this.#token = token
  }
  #token = ''

  /** Adds or replaces a slice. */
  put(
    name: string,
    service: string,
    pods: readonly PodDouble[],
    { port = 8000, addressType = 'IPv4' }: { readonly port?: number; readonly addressType?: string } = {},
  ): void {
    const object = {
      metadata: {
        name,
        namespace: 'ai',
        labels: { 'kubernetes.io/service-name': service },
        resourceVersion: String(++this.#version),
      },
      addressType,
      ports: [{ name: 'http', port, protocol: 'TCP' }],
      endpoints: pods.map(({ name: pod, address, conditions = { ready: true } }) => ({
        addresses: [address],
        conditions,
        targetRef: { kind: 'Pod', name: pod },
      })),
    }
    this.#tell(this.#slices.has(name) ? 'MODIFIED' : 'ADDED', object)
    this.#slices.set(name, object)
  }

  /** Removes a slice. */
  delete(name: string): void {
    const object = this.#slices.get(name)!
    this.#slices.delete(name)
    this.#version += 1
    this.#tell('DELETED', object)
  }

  /** Sends all who watch the current version. */
  bookmark(): void {
    for (const { response } of this.#watching) {
      const metadata = { resourceVersion: String(this.#version) }
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'EndpointSlice', metadata } })}\n`)
    }
  }

  /** Ends all watches, as the API does after a time. `compacts`: versions until now can no longer be watched from. */
  endWatches(compacts = false): void {
    if (compacts) this.#oldest = ++this.#version
    for (const watching of this.#watching) {
      this.#watching.delete(watching)
      watching.response.end()
    }
  }

  /** Sends all who watch a line of its own, and ends nothing. */
  say(line: string): void {
    for (const { response } of this.#watching) response.write(`${line}\n`)
  }

  /** Breaks all connections. */
  breakOff(): void {
    this.#server.closeAllConnections()
  }

  get watches(): number {
    return this.#watching.size
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
    rmSync(this.#folder, { recursive: true })
  }

  #tell(type: string, object: object): void {
    this.#changes.push({ version: this.#version, line: { type, object } })
    for (const { response, selector } of this.#watching)
      if (isOf(object, selector)) response.write(`${JSON.stringify({ type, object })}\n`)
  }

  #answer(
    { pathname, searchParams }: URL,
    headers: { authorization?: string | undefined },
    response: ServerResponse,
  ): void {
    this.asked.push(`${pathname}?${searchParams}`)
    const refuse = (code: number, message: string): unknown =>
      response
        .writeHead(code, { 'content-type': 'application/json' })
        .end(JSON.stringify({ kind: 'Status', code, message }))
    if (this.refuses !== undefined) return void refuse(this.refuses, 'endpointslices is forbidden')
    if (headers.authorization !== `Bearer ${this.#token}`) return void refuse(401, 'Unauthorized')
    if (pathname !== '/apis/discovery.k8s.io/v1/namespaces/ai/endpointslices') return void refuse(404, 'not found')
    const selector = searchParams.get('labelSelector') ?? ''
    response.writeHead(200, { 'content-type': 'application/json' })
    if (searchParams.get('watch') === null) {
      const items = [...this.#slices.values()].filter((slice) => isOf(slice, selector))
      response.end(JSON.stringify({ items, metadata: { resourceVersion: String(this.#version) } }))
      return
    }
    if (this.endsWatches) return void response.end()
    const from = Number(searchParams.get('resourceVersion'))
    if (from < this.#oldest) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
      return
    }
    const watching = { response, selector }
    this.#watching.add(watching)
    response.on('close', () => this.#watching.delete(watching))
    response.flushHeaders()
    for (const { version, line } of this.#changes)
      if (version > from && isOf((line as { object: object }).object, selector))
        response.write(`${JSON.stringify(line)}\n`)
  }
}

function isOf(slice: object, selector: string): boolean {
  const { metadata } = slice as { metadata: { labels: Record<string, string> } }
  return selector === `kubernetes.io/service-name=${metadata.labels['kubernetes.io/service-name']}`
}
