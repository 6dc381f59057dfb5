import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { Agent, fetch } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { readConfigured } from '#tools/doctor/read-configured.ts'
import { runDoctor } from '#tools/doctor/run-doctor.ts'
import { type CertificateFiles, hasOpenssl, issue, makeAuthority } from './make-certificates.ts'
import { Reprises, type RunningReprise, runReprise, writeSettings } from './run-reprise.ts'
import { serveHere } from './serve-here.ts'
import { ragRequest } from './start-test-proxy.ts'

describe.skipIf(!hasOpenssl)('TLS (needs openssl)', () => {
  const reprises = new Reprises()
  let folder: string
  let authority: CertificateFiles
  let stranger: CertificateFiles
  let server: CertificateFiles
  let client: CertificateFiles

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-tls-'))
    authority = makeAuthority(folder, 'authority')
    stranger = makeAuthority(folder, 'stranger')
    server = issue(folder, 'server', authority, 'IP:127.0.0.1')
    client = issue(folder, 'client', authority, 'DNS:client')
  })
  afterEach(() => reprises.stopAll())
  afterAll(() => rmSync(folder, { recursive: true }))

  const serve = (settings: object): ReturnType<typeof serveHere> => serveHere(writeSettings(folder, settings))

  function start(settings: object): Promise<RunningReprise> {
    const engine = 'engines' in settings ? [] : ['--emulate']
    return reprises.start(['serve', ...engine, '--config', writeSettings(folder, settings)])
  }

  /** Sends a request as a client that trusts the authority and presents this certificate. Returns the status. */
  async function ask(url: string, shown?: CertificateFiles): Promise<number> {
    const dispatcher = new Agent({
      connect: {
        ca: readFileSync(authority.cert),
        ...(shown && { cert: readFileSync(shown.cert), key: readFileSync(shown.key) }),
      },
    })
    onTestFinished(() => dispatcher.destroy())
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ragRequest('q', ['a', 'b'])),
      dispatcher,
    })
    await response.text()
    return response.status
  }

  /** Starts an engine that uses TLS and requires client certificates from the authority. */
  async function startSecureEngine(
    cert: CertificateFiles,
  ): Promise<{ url: string; peers: string[]; closeIdle: () => void }> {
    const peers: string[] = []
    const engine = createServer(
      {
        cert: readFileSync(cert.cert),
        key: readFileSync(cert.key),
        ca: readFileSync(authority.cert),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (request, response) => {
        peers.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
        request.resume()
        response.setHeader('content-type', 'application/json')
        response.end('{"choices":[]}')
      },
    )
    engine.on('upgrade', (_request, socket) => {
      peers.push(String((socket as TLSSocket).getPeerCertificate().subject.CN))
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.pipe(socket)
    })
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      engine.closeAllConnections()
      engine.close()
    })
    const url = `https://127.0.0.1:${(engine.address() as AddressInfo).port}`
    return { url, peers, closeIdle: () => engine.closeIdleConnections() }
  }

  /** Returns the serial number of the certificate that a listener presents. */
  function serialOf(url: string): Promise<string> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(authority.cert) }, () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  }

  test('joins the connections of a WebSocket, encrypted on both sides', async () => {
    const engine = await startSecureEngine(issue(folder, 'joined-engine', authority, 'IP:127.0.0.1'))
    const { listening } = await serve({
      engines: [{ url: engine.url, tls: { ca: authority.cert, cert: client.cert, key: client.key } }],
      tls: { cert: server.cert, key: server.key, client_ca: authority.cert },
    })
    const socket = connect({
      port: Number(new URL(listening.url!).port),
      host: '127.0.0.1',
      ca: readFileSync(authority.cert),
      cert: readFileSync(client.cert),
      key: readFileSync(client.key),
    })
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
    })
    socket.write('GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
    await vi.waitFor(() => expect(received).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/), 5_000)
    socket.write('to and fro')
    await vi.waitFor(() => expect(received).toMatch(/\r\n\r\nto and fro$/))
    expect(engine.peers).toEqual(['client'])
    socket.destroy()
  })

  test('clients are answered over TLS, and plain HTTP is not', async () => {
    const { listening } = await serve({ tls: { cert: server.cert, key: server.key } })
    expect(listening.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await ask(listening.url!)).toBe(200)
    await expect(fetch(listening.url!.replace('https', 'http'))).rejects.toThrow()
    await expect(fetch(listening.url!)).rejects.toMatchObject({
      cause: { code: expect.stringMatching(/CERT|VERIFY|ISSUER/) },
    })
    expect(await ask(listening.url!)).toBe(200)
  })

  test('with client_ca only clients with a certificate of it are answered', async () => {
    const { listening } = await serve({ tls: { cert: server.cert, key: server.key, client_ca: authority.cert } })
    expect(await ask(listening.url!, client)).toBe(200)
    await expect(ask(listening.url!)).rejects.toThrow()
    await expect(ask(listening.url!, issue(folder, 'unknown', stranger, 'DNS:client'))).rejects.toThrow()
    expect(await ask(listening.url!, client)).toBe(200)
  })

  test('a renewed certificate is presented without a signal, and no request fails meanwhile', async () => {
    const used = { cert: join(folder, 'watched.pem'), key: join(folder, 'watched.key') }
    const install = ({ cert, key }: CertificateFiles): void => {
      copyFileSync(cert, used.cert)
      copyFileSync(key, used.key)
    }
    install(server)
    const { listening, stderr } = await start({ tls: used })
    const before = await serialOf(listening.url!)
    const statuses: number[] = []
    let isOver = false
    const load = (async () => {
      while (!isOver) statuses.push(await ask(listening.url!))
    })()
    install(issue(folder, 'watched', authority, 'IP:127.0.0.1'))
    await vi.waitFor(async () => expect(await serialOf(listening.url!)).not.toBe(before), 20_000)
    const renewed = await serialOf(listening.url!)
    writeFileSync(used.cert, 'nonsense')
    await vi.waitFor(() => expect(stderr()).toContain('certificates not reloaded: those before stay'), 20_000)
    isOver = true
    await load
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await serialOf(listening.url!)).toBe(renewed)
  })

  test('SIGHUP reads renewed certificates, and keeps those before when they are broken', async () => {
    const used = { cert: join(folder, 'used.pem'), key: join(folder, 'used.key') }
    const install = ({ cert, key }: CertificateFiles): void => {
      copyFileSync(cert, used.cert)
      copyFileSync(key, used.key)
    }
    install(server)
    const { listening, child, stderr } = await start({ tls: used })
    const before = await serialOf(listening.url!)
    install(issue(folder, 'renewed', authority, 'IP:127.0.0.1'))
    child.kill('SIGHUP')
    await vi.waitFor(async () => expect(await serialOf(listening.url!)).not.toBe(before), 20_000)
    const renewed = await serialOf(listening.url!)
    writeFileSync(used.cert, 'nonsense')
    child.kill('SIGHUP')
    await vi.waitFor(() => expect(stderr()).toContain('configuration not reloaded: the one before stays'), 20_000)
    expect(await serialOf(listening.url!)).toBe(renewed)
  })

  test('SIGHUP reads renewed certificates for an engine, which new connections show', async () => {
    const used = { cert: join(folder, 'shown.pem'), key: join(folder, 'shown.key') }
    const install = ({ cert, key }: CertificateFiles): void => {
      copyFileSync(cert, used.cert)
      copyFileSync(key, used.key)
    }
    install(client)
    const engine = await startSecureEngine(server)
    const { listening, child, stderr } = await start({
      engines: [{ url: engine.url, tls: { ca: authority.cert, ...used } }],
    })
    expect(await ask(listening.url!)).toBe(200)
    install(issue(folder, 'renewed-client', authority, 'DNS:client'))
    child.kill('SIGHUP')
    await vi.waitFor(async () => {
      engine.closeIdle()
      expect(await ask(listening.url!)).toBe(200)
      expect(engine.peers.at(-1)).toBe('renewed-client')
    }, 20_000)
    writeFileSync(used.cert, 'nonsense')
    child.kill('SIGHUP')
    await vi.waitFor(() => expect(stderr()).toContain('configuration not reloaded: the one before stays'), 20_000)
    await vi.waitFor(async () => {
      engine.closeIdle()
      expect(await ask(listening.url!)).toBe(200)
    })
    expect(engine.peers.at(-1)).toBe('renewed-client')
  })

  test('the proxy proves itself to the engine, and has the engine prove itself', async () => {
    const engine = await startSecureEngine(server)
    const tls = { ca: authority.cert, cert: client.cert, key: client.key }
    const { listening } = await serve({ engines: [{ url: engine.url, tls }] })
    expect(await ask(listening.url!)).toBe(200)
    expect(engine.peers).toEqual(['client'])
  })

  test('the doctor reaches an engine with the certificates of the configuration', async () => {
    const engine = await startSecureEngine(server)
    const tls = { ca: authority.cert, cert: client.cert, key: client.key }
    const file = writeSettings(folder, { engines: [{ url: engine.url, kind: 'vllm', tls }] })
    const common = { model: undefined, prompt: undefined, adminUrl: undefined, adminToken: undefined }
    const [options] = await readConfigured(file, { ...common, timeoutMilliseconds: 10_000 })
    await runDoctor(options!, new AbortController().signal)
    expect(new Set(engine.peers)).toEqual(new Set(['client']))
  })

  test.each<[string, (folder: string) => object]>([
    ['shows no certificate', () => ({ ca: authority.cert })],
    ['does not trust the engine', () => ({ ca: stranger.cert, cert: client.cert, key: client.key })],
  ])('an engine is unreachable for a proxy that %s', async (_title, tls) => {
    const engine = await startSecureEngine(server)
    const { listening, stderr } = await start({ engines: [{ url: engine.url, tls: tls(folder) }] })
    const statuses = await Promise.all(Array.from({ length: 5 }, () => ask(listening.url!)))
    expect(new Set(statuses)).toEqual(new Set([502]))
    await vi.waitFor(() => expect(stderr()).toMatch(/"fault":"[^"]+","msg":"the engine fails requests/))
    expect(engine.peers).toEqual([])
  })

  test('an engine whose certificate is for another name is unreachable', async () => {
    const engine = await startSecureEngine(issue(folder, 'named', authority, 'DNS:engine.internal'))
    const { listening } = await serve({ engines: [{ url: engine.url, tls: { ca: authority.cert } }] })
    expect(await ask(listening.url!)).toBe(502)
  })

  const cutOff = (): string => {
    const file = join(folder, 'half.pem')
    writeFileSync(file, readFileSync(authority.cert).subarray(0, 200))
    return file
  }

  test.each<[string, () => object]>([
    ['a key of another certificate', () => ({ tls: { cert: server.cert, key: client.key } })],
    ['no PEM', () => ({ tls: { cert: join(folder, 'reprise.json'), key: client.key } })],
    [
      'no PEM for an engine',
      () => ({
        engines: [{ url: 'https://127.0.0.1:1', tls: { cert: join(folder, 'reprise.json'), key: client.key } }],
      }),
    ],
    ['no authority', () => ({ tls: { cert: server.cert, key: server.key, client_ca: join(folder, 'reprise.json') } })],
    ['an authority that is cut off', () => ({ engines: [{ url: 'https://127.0.0.1:1', tls: { ca: cutOff() } }] })],
  ])('certificates that cannot be used end the start with 1 and one line: %s', (_title, settings) => {
    const used = settings()
    const engine = 'engines' in used ? [] : ['--emulate']
    const { status, stderr } = runReprise(['serve', ...engine, '--config', writeSettings(folder, used)])
    expect(stderr).toMatch(/^error: .*tls \(.*\): not a certificate in PEM and the key that belongs to it: .*\n$/)
    expect(status).toBe(1)
  })
})
