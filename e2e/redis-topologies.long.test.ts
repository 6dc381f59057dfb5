import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TlsFiles } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { hasOpenssl, issue, makeAuthority } from './make-certificates.ts'
import { metricOf } from './placed-blocks.ts'
import { answerPlainly, type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { hasRedis, type RedisServerOptions, type RunningRedis, startRedis, waitFor } from './redis-server.ts'
import { SharedConversation, startSharedProxy } from './shared-conversation.ts'

const hasCli = spawnSync('redis-cli', ['--version']).status === 0

describe.skipIf(!hasRedis)('kinds of Redis (needs redis-server)', () => {
  let engine: RecordingEngineDouble
  const closers: (() => Promise<void> | void)[] = []

  beforeEach(async () => {
    engine = await startRecordingEngineDouble()
    engine.answer(answerPlainly)
  })

  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
    await engine.close()
  })

  async function start(options: RedisServerOptions = {}): Promise<RunningRedis> {
    const server = await startRedis(options)
    closers.push(() => server.close())
    return server
  }

  async function startProxy(url: string, tls?: TlsFiles): Promise<RunningProxy> {
    const redis = { url, namespace: 'test', ttlSeconds: 600, readMilliseconds: 2_000, tls }
    const proxy = await startSharedProxy(engine, url, { redis })
    closers.push(() => proxy.close())
    return proxy
  }

  const keysOf = async (...servers: RunningRedis[]): Promise<string[]> =>
    (await Promise.all(servers.map(({ client }) => client.keys('reprise:test:turn:*')))).flat()

  /** Holds a conversation through two proxies in turn. */
  async function converse(url: string, tls: TlsFiles | undefined, servers: RunningRedis[]): Promise<void> {
    const [one, other] = [await startProxy(url, tls), await startProxy(url, tls)]
    const conversation = new SharedConversation(engine, 'kinds')
    await conversation.bias(one, 'DCBA')
    await conversation.bias(other, 'BADC')
    for (const [turn, names] of ['ABCD', 'CBEA', 'FADG'].entries()) {
      await conversation.ask(turn % 2 === 0 ? one : other, names)
      await waitFor(async () => (await keysOf(...servers)).length === 2 * (turn + 3))
    }
    expect(await metricOf(one.adminUrl, 'reprise_redis_up')).toBe(1)
    // each has sent some of the requests and knows all of them, as does one that joins later
    const all = [one, other, await startProxy(url, tls)]
    await waitFor(async () => (await Promise.all(all.map(mirroredBy))).every((count) => count === 5))
    await waitFor(async () =>
      (await Promise.all(all.map(hottestOf))).every((count, _, [first]) => count > 0 && count === first),
    )
  }

  /** Returns how often the hottest blocks were requested, according to one proxy. */
  const hottestOf = async ({ adminUrl }: RunningProxy): Promise<number> => {
    const { top_blocks } = (await (await fetch(`${adminUrl}/v1/index`)).json()) as { top_blocks: { count: number }[] }
    return top_blocks.reduce((sum, { count }) => sum + count, 0)
  }

  const mirroredBy = async ({ adminUrl }: RunningProxy): Promise<number> => {
    const response = await fetch(`${adminUrl}/v1/mirror`)
    const { replicas } = (await response.json()) as { replicas: { requests: number }[] }
    return replicas[0]!.requests
  }

  test('a database that the server does not have: nothing is written to another', async () => {
    const server = await start({ args: ['--databases', '4'] })
    const wrong = await startProxy(`${server.url}/4`)
    await new SharedConversation(engine, 'wrong').ask(wrong, 'ABCD')
    await pause(500)
    expect(await metricOf(wrong.adminUrl, 'reprise_redis_up')).toBe(0)
    expect(await server.client.info('keyspace')).not.toContain('db')
    const right = await startProxy(`${server.url}/3`)
    await new SharedConversation(engine, 'right').ask(right, 'ABCD')
    await waitFor(async () => (await server.client.info('keyspace')).includes('db3'))
    expect(await server.client.info('keyspace')).not.toContain('db0')
  })

  test('a server that asks for user and password', async () => {
    const server = await start({
      args: '--user me on >s:cret ~reprise:* +@all --user default off'.split(' '),
      clientOptions: { username: 'me', password: 's:cret' },
    })
    await converse(`redis://me:s%3Acret@127.0.0.1:${server.port}`, undefined, [server])
    const wrong = await startProxy(`redis://me:wrong@127.0.0.1:${server.port}`)
    await new SharedConversation(engine, 'wrong').ask(wrong, 'ABCD')
    expect(await metricOf(wrong.adminUrl, 'reprise_redis_up')).toBe(0)
  })

  test.skipIf(!hasOpenssl)('TLS, with certificates that both sides check (needs openssl)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-redis-tls-'))
    closers.push(() => rmSync(folder, { recursive: true }))
    const authority = makeAuthority(folder, 'authority')
    const own = issue(folder, 'server', authority, 'IP:127.0.0.1')
    const ours = issue(folder, 'proxy', authority, 'DNS:proxy')
    const port = await findFreePort()
    const pem = { ca: readFileSync(authority.cert), cert: readFileSync(ours.cert), key: readFileSync(ours.key) }
    const files = ['--tls-cert-file', own.cert, '--tls-key-file', own.key, '--tls-ca-cert-file', authority.cert]
    const server = await start({
      port,
      args: ['--port', '0', '--tls-port', String(port), ...files],
      clientOptions: { tls: pem },
    })
    await converse(`rediss://127.0.0.1:${port}`, { ca: authority.cert, cert: ours.cert, key: ours.key }, [server])
    // a proxy that trusts another authority
    const stranger = makeAuthority(folder, 'stranger')
    const wrong = await startProxy(`rediss://127.0.0.1:${port}`, { ca: stranger.cert, cert: ours.cert, key: ours.key })
    await new SharedConversation(engine, 'wrong').ask(wrong, 'ABCD')
    expect(await metricOf(wrong.adminUrl, 'reprise_redis_up')).toBe(0)
  })

  /** Starts a cluster of three whose nodes keep their identity when restarted. */
  async function startCluster() {
    const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-require-full-coverage', 'no']
    const startNode = async (port: number, folder: string): Promise<RunningRedis> =>
      start({ port, args: [...args, '--dir', folder] })
    const folders = Array.from({ length: 3 }, () => mkdtempSync(join(tmpdir(), 'reprise-redis-node-')))
    closers.push(() => {
      for (const folder of folders) rmSync(folder, { recursive: true })
    })
    const nodes = await Promise.all(folders.map(async (folder) => startNode(await clusterPort(), folder)))
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    const made = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], { encoding: 'utf8' })
    expect(made.stdout).toContain('All 16384 slots covered')
    await waitFor(async () => {
      const infos = await Promise.all(nodes.map(({ client }) => client.cluster('INFO') as Promise<string>))
      return infos.every((info) => info.includes('cluster_state:ok'))
    })
    const restart = async (i: number): Promise<void> => {
      nodes[i] = await startNode(nodes[i]!.port, folders[i]!)
    }
    return { nodes, url: `redis+cluster://${addresses.slice(0, 2).join(',')}`, restart }
  }

  /** Holds many conversations, so that every node has some. Resolves with their keys. */
  async function converseMuch(proxy: RunningProxy, nodes: RunningRedis[], before: number): Promise<string[]> {
    for (let i = 0; i < 20; i++) await new SharedConversation(engine, `of many ${i}`).ask(proxy, 'ABCD')
    await waitFor(async () => (await keysOf(...nodes)).length === before + 40)
    return (await keysOf(...nodes)).toSorted()
  }

  test.skipIf(!hasCli)('a cluster of three whose nodes are emptied one after another (needs redis-cli)', async () => {
    const { nodes, url } = await startCluster()
    await converse(url, undefined, nodes)
    const proxy = await startProxy(url)
    const known = await converseMuch(proxy, nodes, 10)
    const other = await startProxy(url)
    // only then is everything in Redis that this proxy has counted
    await waitFor(async () => (await hottestOf(other)) === (await hottestOf(proxy)))
    const hottest = await hottestOf(proxy)
    for (const node of nodes) {
      expect(await keysOf(node)).not.toEqual([])
      await node.client.flushall()
      await waitFor(async () => (await keysOf(...nodes)).length === 50, 5_000)
    }
    expect((await keysOf(...nodes)).toSorted()).toEqual(known)
    const late = await startProxy(url)
    await waitFor(async () => (await hottestOf(late)) === hottest, 5_000)
  })

  test.skipIf(!hasCli)('a cluster whose nodes are killed and come back empty (needs redis-cli)', async () => {
    const { nodes, url, restart } = await startCluster()
    const proxies = [await startProxy(url), await startProxy(url)]
    const known = await converseMuch(proxies[0]!, nodes, 0)
    for (const [i, node] of nodes.entries()) {
      const held = await keysOf(node)
      expect(held).not.toEqual([])
      await node.kill()
      // long enough for the other nodes to mark it as failed; it is readmitted step by step
      await new SharedConversation(engine, 'meanwhile').ask(proxies[i % 2]!, 'ABCD')
      await pause(2_500)
      await restart(i)
      await waitFor(async () => {
        const now = new Set(await keysOf(...nodes))
        return known.every((key) => now.has(key))
      })
    }
  })

  test('a master that sentinels replace: requests go on, and its state is whole within 5 s of that', async () => {
    const master = await start()
    const replica = await start({ args: ['--replicaof', '127.0.0.1', String(master.port)] })
    await waitFor(async () => (await replica.client.info('replication')).includes('master_link_status:up'))
    const port = await findFreePort()
    await start({
      port,
      config: [
        `sentinel monitor mine 127.0.0.1 ${master.port} 1`,
        'sentinel down-after-milliseconds mine 500',
        'sentinel failover-timeout mine 3000',
      ].join('\n'),
      args: ['--sentinel'],
    })
    const url = `redis+sentinel://127.0.0.1:${port}/mine`
    const proxy = await startProxy(url)
    const conversation = new SharedConversation(engine, 'sentinels')
    await conversation.bias(proxy, 'DCBA')
    await conversation.ask(proxy, 'ABCD')
    await waitFor(async () => (await keysOf(replica)).length === 4)
    await master.kill()
    await conversation.ask(proxy, 'CBEA')
    await waitFor(async () => (await replica.client.info('replication')).includes('role:master'), 30_000)
    await waitFor(async () => (await keysOf(replica)).length === 6, 5_000)
    const other = await startProxy(url)
    await waitFor(async () => (await mirroredBy(other)) === 3)
    await conversation.bias(other, 'HGFEDCBA')
    await conversation.ask(other, 'FADG')
  })
})

/** Finds a port for a cluster node; its cluster bus uses the port 10,000 higher. */
async function clusterPort(): Promise<number> {
  for (;;) {
    const port = await findFreePort()
    if (port < 55_000) return port
  }
}
