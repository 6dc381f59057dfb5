import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { request } from 'undici'
import { beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import type { DeployedTests } from './describe-deployed.ts'
import { modelName } from './engine.ts'
import { checkoutTurns } from './prompts.ts'

/*
 * Reuse at any position through the whole chain: a client, the proxy, and an engine's own server with the plugin.
 * The plugin's own tests cover the engine's side; these cover what crosses processes: options, usage and reports.
 */

const someTurns = 6

interface Usage {
  readonly prompt_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly reused_tokens?: number }
}

interface Answer {
  readonly text: string
  readonly usage: Usage
}

/** SGLang leaves the details out if nothing was found. */
const withDetails = (usage: Usage): Usage => ({
  ...usage,
  prompt_tokens_details: usage.prompt_tokens_details ?? { cached_tokens: 0 },
})

/** What crosses processes. */
export const testReuse: DeployedTests = (deployed, python) =>
  describe('reuse at any position', () => {
    let turns: Turn[]

    beforeAll(async () => {
      turns = await checkoutTurns(someTurns)
    })

    /** Sends a body unchanged, as a tenant, with an optional `reuse` option. */
    async function send(path: string, body: object, tenant: string, reuse?: string): Promise<string> {
      const response = await request(`${deployed().proxy.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${tenant}`,
          'x-reprise-options': ['reorder=off,dedup=off', ...(reuse ? [`reuse=${reuse}`] : [])].join(),
        },
        body: JSON.stringify({ model: modelName, max_tokens: 9, temperature: 0, ...body }),
      })
      const text = await response.body.text()
      expect(response.statusCode, text).toBe(200)
      return text
    }

    async function chat(turn: Turn, tenant: string, reuse?: string): Promise<Answer> {
      const text = await send(
        '/v1/chat/completions',
        { messages: [SYSTEM_MESSAGE, toUserMessage(turn)] },
        tenant,
        reuse,
      )
      const { choices, usage } = JSON.parse(text)
      return { text: choices[0].message.content, usage: withDetails(usage) }
    }

    /** Reverses a turn's documents and changes its question. */
    function turnedRound(turn: Turn): Turn {
      return { ...turn, blocks: turn.blocks.toReversed(), question: `What else is said of this? ${turn.question}` }
    }

    test('the proxy is told that the engine reuses, and how much it computes again', async () => {
      await chat(turns[0]!, 'told')
      await expect
        .poll(async () => await deployed().proxy.mirror())
        .toMatchObject({ reuse: { ratio: 0.15, max_ratio: 1 } })
    })

    test('documents in another order are reused, and usage tells them from exact ones', async () => {
      for (const turn of turns) {
        await chat(turn, 'order')
        const { usage } = await chat(turnedRound(turn), 'order')
        const { cached_tokens, reused_tokens } = usage.prompt_tokens_details
        expect(reused_tokens).toBeGreaterThan(0.5 * usage.prompt_tokens)
        expect(cached_tokens).toBeLessThan(0.3 * usage.prompt_tokens)
      }
    })

    test('streams tell it too', async () => {
      await chat(turns[1]!, 'stream')
      const body = { messages: [SYSTEM_MESSAGE, toUserMessage(turnedRound(turns[1]!))], stream: true }
      const text = await send('/v1/chat/completions', { ...body, stream_options: { include_usage: true } }, 'stream')
      expect(Number(/"reused_tokens":(\d+)/.exec(text)?.[1])).toBeGreaterThan(500)
    })

    test('texts that only blank lines part are reused as well: no border has to be known', async () => {
      const prompt = (turn: Turn): string => [...turn.blocks.map(({ text }) => text), turn.question].join('\n\n')
      await send('/v1/completions', { prompt: prompt(turns[2]!) }, 'plain')
      const answer = JSON.parse(await send('/v1/completions', { prompt: prompt(turnedRound(turns[2]!)) }, 'plain'))
      const usage = withDetails(answer.usage)
      expect(usage.prompt_tokens_details.reused_tokens).toBeGreaterThan(0.5 * usage.prompt_tokens)
    })

    test('computing all of it again gives the answers of an engine without reuse, of requests at once too', async ({
      task,
    }) => {
      // what an attempt has left is no other's
      const tenant = `again ${task.result?.retryCount ?? 0}`
      for (const turn of turns) await chat(turn, tenant)
      const asked = turns.map(turnedRound)
      const computedAgain = await Promise.all(asked.map((turn) => chat(turn, tenant, '1')))
      for (const [at, turn] of asked.entries()) {
        expect(computedAgain[at]!.usage.prompt_tokens_details.cached_tokens).toBeLessThan(500)
        const { text, usage } = await chat(turn, tenant, 'off')
        expect(text).toBe(computedAgain[at]!.text)
        // reused KV must not be found as a prefix later
        expect(usage.prompt_tokens_details).not.toHaveProperty('reused_tokens')
        expect(usage.prompt_tokens_details.cached_tokens).toBeLessThan(500)
      }
    })

    /** Preprocesses a turn's documents. Returns what the first request with them finds reused. */
    async function reusedAfterPreprocessing(turn: Turn, tenant: string, url: string): Promise<number> {
      const folder = await mkdtemp(join(tmpdir(), 'preprocess-'))
      const corpus = join(folder, 'corpus.jsonl')
      await writeFile(corpus, turn.blocks.map(({ text }) => `${JSON.stringify({ text })}\n`).join(''))
      const where = ['--engine', url, '--api-key', tenant, '--state', join(folder, 'state')]
      const options = { env: { ...process.env, PYTHONPATH: join(import.meta.dirname, '../../kernels') } }
      const command = ['-m', 'reprise_reuse', 'preprocess', corpus, ...where, '--contexts', '2', '--window', '4']
      await promisify(execFile)(python, command, options)
      await rm(folder, { recursive: true })
      const { usage } = await chat(turn, tenant)
      return (usage.prompt_tokens_details.reused_tokens ?? 0) / usage.prompt_tokens
    }

    test('what was preprocessed through the proxy is reused by the first request of that tenant', async () => {
      expect(await reusedAfterPreprocessing(turns[4]!, 'prepared', deployed().proxy.url)).toBeGreaterThan(0.5)
      const { usage } = await chat(turns[4]!, 'unprepared')
      expect(usage.prompt_tokens_details).not.toHaveProperty('reused_tokens')
    })

    test('tenants share nothing', async () => {
      await chat(turns[3]!, 'one')
      const { usage } = await chat(turnedRound(turns[3]!), 'another')
      expect(usage.prompt_tokens_details).not.toHaveProperty('reused_tokens')
    })

    test('both kinds are counted', async () => {
      const response = await request(`${deployed().proxy.adminUrl}/metrics`)
      const metrics = await response.body.text()
      for (const name of ['reused', 'recomputed']) {
        expect(Number(new RegExp(`^reprise_${name}_tokens_total (\\d+)`, 'm').exec(metrics)?.[1])).toBeGreaterThan(500)
      }
    })
  })
