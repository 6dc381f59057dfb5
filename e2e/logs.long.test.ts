import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { connectRaw } from './raw-client.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')
const full = '/dev/full'

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

async function serve(stderr: 'pipe' | number): Promise<{ child: ChildProcess; url: string; adminUrl: string }> {
  const args = [reprise, 'serve', '--emulate', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', stderr] })
  started.push(child)
  const [line] = await once(createInterface(child.stdout!), 'line')
  const { url, admin_url: adminUrl } = JSON.parse(line)
  return { child, url, adminUrl }
}

async function ask(url: string, question: string): Promise<number> {
  const response = await postJson(`${url}/v1/chat/completions`, ragRequest(question, ['secret-one', 'secret-two']))
  await response.text()
  return response.status
}

async function stop(child: ChildProcess): Promise<unknown> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}

describe('logs', () => {
  test('name what was refused before it was a request, with its client', async () => {
    const { child, url } = await serve('pipe')
    const lines: string[] = []
    createInterface(child.stderr!).on('line', (line) => lines.push(line))
    const unreadable = [
      'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 40\r\n\r\n{}',
    ]
    const answers: string[] = []
    for (const bytes of unreadable) {
      const client = await connectRaw(url)
      client.write(bytes)
      answers.push((await client.ended).slice(9, 12))
    }
    expect(answers).toEqual(['405', '400', '400', '431', '400', '400'])
    expect(await stop(child)).toBe(0)
    const refused = lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ outcome }) => outcome === 'unreadable_request')
    expect(refused.map(({ status }) => String(status))).toEqual(answers)
    for (const line of refused)
      expect(line).toMatchObject({ client: '127.0.0.1', msg: 'request', reason: expect.any(String) })
  })

  test('are a JSON line on stderr for every request, and hold nothing of its text or key', async () => {
    const { child, url } = await serve('pipe')
    const lines: string[] = []
    createInterface(child.stderr!).on('line', (line) => lines.push(line))
    const authorization = { headers: { authorization: 'Bearer sk-very-secret' } }
    await (await postJson(`${url}/v1/chat/completions`, ragRequest('secret-q', ['secret-1']), authorization)).text()
    await (await fetch(`${url}/v1/models?secret=1`)).text()
    const refused = await postJson(`${url}/v1/chat/completions`, '{"secret":', { headers: { 'x-request-id': '' } })
    expect(await stop(child)).toBe(0)
    const requests = lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request')
    expect(requests).toHaveLength(3)
    // the log line of a passed-through answer may come after that of the next request
    const chat = requests.find(({ route, status }) => route === 'chat_completions' && status === 200)
    const passed = requests.find(({ route }) => route === 'pass_through')
    const invalid = requests.find(({ status }) => status === 400)
    expect(chat).toMatchObject({ outcome: 'finished', blocks: 1, replica: 'emulator' })
    expect(passed).toMatchObject({ outcome: 'finished', status: 200, method: 'GET', path: '/v1/models' })
    expect(invalid).toMatchObject({ outcome: 'invalid_body', request_id: refused.headers.get('x-request-id') })
    expect(invalid.request_id).toMatch(/^[\w-]{8,}$/)
    expect(chat.duration_ms).toBeGreaterThanOrEqual(chat.ttft_ms)
    expect(lines.join()).not.toContain('secret')
  })

  test.skipIf(!existsSync(full))('on a full disk are lost, and nothing else is', async () => {
    const { child, url } = await serve(openSync(full, 'w'))
    for (let i = 0; i < 20; i++) expect(await ask(url, `q${i}`)).toBe(200)
    expect(child.exitCode).toBeNull()
    expect(await stop(child)).toBe(0)
  })

  test('whose reader has gone are lost, and nothing else is', async () => {
    const { child, url } = await serve('pipe')
    child.stderr!.destroy()
    for (let i = 0; i < 20; i++) expect(await ask(url, `q${i}`)).toBe(200)
    expect(child.exitCode).toBeNull()
    expect(await stop(child)).toBe(0)
  })

  test('that nobody reads hold nothing up, not even the end', async () => {
    const { child, url, adminUrl } = await serve('pipe')
    child.stderr!.pause()
    // more log output than a pipe holds
    const headers = { 'x-request-id': 'x'.repeat(199) }
    for (let round = 0; round < 12; round++) {
      const sent = Array.from({ length: 25 }, () =>
        postJson(`${url}/v1/chat/completions`, { messages: [] }, { headers }).then((response) => response.text()),
      )
      await Promise.all(sent)
    }
    expect((await fetch(`${adminUrl}/healthz`)).status).toBe(200)
    const code = await Promise.race([stop(child), delay(10_000, 'still running')])
    expect(code).toBe(0)
  })
})
