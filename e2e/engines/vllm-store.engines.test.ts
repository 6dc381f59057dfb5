import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import { type RunningReprise, startReprise } from '../start-reprise.ts'
import { modelName } from './engine.ts'
import { EngineProcess } from './engine-process.ts'
import { checkoutTurns } from './prompts.ts'
import { sharingVllmEngine } from './vllm-engine.ts'

/*
 * Two engines that run at the same time, with one store, behind one proxy. REPRISE_TEST_STORE names another store than a
 * folder, such as mooncake://127.0.0.1:50051.
 */

const names = ['a', 'b'] as const
const setup = inject('vllm')

interface Answer {
  readonly text: string
  readonly replica: string
  /** share of the prompt that was reused at any position */
  readonly reused: number
}

describe.skipIf('missing' in setup)('two vLLM with one store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-store-'))
  const store = process.env.REPRISE_TEST_STORE ?? pathToFileURL(join(folder, 'store')).href
  let engines: EngineProcess[] = []
  let proxy: RunningReprise | undefined
  let turns: Turn[]

  beforeAll(async () => {
    if ('missing' in setup) return
    turns = await checkoutTurns(3)
    engines = await Promise.all(
      names.map((name) => {
        mkdirSync(join(folder, name))
        const own = { installation: setup, callbackUrl: '', folder: join(folder, name) }
        return EngineProcess.prepare(sharingVllmEngine(store), 'callbacks', own)
      }),
    )
    await Promise.all(engines.map((engine) => engine.start()))
    const flags = engines.flatMap(({ url }, i) => ['--engine', `${url},kind=vllm,id=${names[i]}`])
    proxy = await startReprise(['--mode', 'shadow', '--log-level', 'warn', ...flags])
  })
  afterAll(async () => {
    proxy?.child.kill('SIGKILL')
    await Promise.all([proxy?.exited, ...engines.map((engine) => engine.stop())])
    rmSync(folder, { recursive: true })
  })

  async function ask(turn: Turn, reuse = 'on'): Promise<Answer> {
    const { statusCode, headers, body } = await request(`${proxy!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-reprise-options': `reuse=${reuse}` },
      body: JSON.stringify({
        model: modelName,
        max_tokens: 9,
        temperature: 0,
        messages: [SYSTEM_MESSAGE, toUserMessage(turn)],
      }),
    })
    const text = await body.text()
    expect(statusCode, text).toBe(200)
    const { choices, usage } = JSON.parse(text)
    const { reused_tokens: reused = 0 } = usage.prompt_tokens_details ?? {}
    return {
      text: choices[0].message.content,
      replica: String(headers['x-reprise-replica']),
      reused: reused / usage.prompt_tokens,
    }
  }

  /** Sends all requests to one engine only, as if the other were being restarted. */
  async function only(used: (typeof names)[number]): Promise<void> {
    for (const name of names) {
      const path = `/v1/replicas/${name}/${name === used ? 'resume' : 'drain'}`
      expect((await request(`${proxy!.adminUrl}${path}`, { method: 'POST' })).statusCode).toBe(200)
    }
  }

  async function countOf(name: (typeof names)[number], event: string): Promise<number> {
    const { body } = await request(`${engines[names.indexOf(name)]!.url}/metrics`)
    const line = new RegExp(`^vllm:reprise_remote_total\\{[^}]*event="${event}"[^}]*\\} (\\S+)`, 'm')
    return Number(line.exec(await body.text())?.[1] ?? 0)
  }

  const rotated = (turn: Turn, by: number): Turn => ({
    ...turn,
    blocks: [...turn.blocks.slice(by), ...turn.blocks.slice(0, by)],
    question: `${turn.question} (${by})`,
  })

  test('what one has computed the other reuses, with the answer of its own host memory', async () => {
    await only('a')
    for (const turn of turns) {
      await ask(turn)
      await ask(rotated(turn, 2))
    }
    await expect.poll(() => countOf('a', 'written'), { timeout: 60_000 }).toBeGreaterThanOrEqual(turns.length)
    const own = []
    for (const turn of turns) own.push(await ask(rotated(turn, 4)))
    await only('b')
    for (const [i, turn] of turns.entries()) {
      const other = await ask(rotated(turn, 4))
      expect([own[i]!.replica, other.replica]).toEqual(['a', 'b'])
      expect(other.reused).toBeGreaterThan(0.5)
      expect(other.text).toBe(own[i]!.text)
    }
    expect(await countOf('b', 'read')).toBeGreaterThan(0)
  })

  test('both at once answer from it as they do without it', async () => {
    for (const name of names) await request(`${proxy!.adminUrl}/v1/replicas/${name}/resume`, { method: 'POST' })
    const asked = turns.flatMap((turn) => [1, 3, 5].map((by) => rotated(turn, by)))
    const together = await Promise.all(asked.map((turn) => ask(turn, '1')))
    expect(new Set(together.map(({ replica }) => replica)).size).toBe(2)
    for (const [i, turn] of asked.entries()) expect(together[i]!.text).toBe((await ask(turn, 'off')).text)
  })
})
