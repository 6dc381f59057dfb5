import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import type { DeployedTests } from './describe-deployed.ts'
import { modelName, segmentsFolder } from './engine.ts'
import { checkoutTurns } from './prompts.ts'

/*
 * Reuse at any position under adverse conditions: host memory for six prompts, the rest on disk, twelve clients at
 * once, the engine killed, files damaged. If everything reused is also recomputed, the answer must equal that of an
 * engine without reuse; a row of another prompt, tenant or engine run would show in it.
 */

const clients = 12
const prompts = 24
/** 1,000 in a long run; each prompt is repeated with its documents in a different order each time */
const answers = Number(process.env.REPRISE_TEST_ANSWERS ?? 48)
/** Two tokens may be equally likely except for rounding, which depends on what is computed together. */
const tie = 1e-3

interface Answer {
  readonly tokens: readonly string[]
  readonly logprobs: readonly number[]
  readonly reused: number
}

/** What no adversity may change. */
export const testReuseFaults: DeployedTests = (deployed) =>
  describe('reuse with little memory and a disk', () => {
    let turns: Turn[]
    const expected = new Map<Turn, Answer>()

    beforeAll(async () => {
      const asked = await checkoutTurns(prompts)
      turns = Array.from({ length: answers }, (_, at) => turned(asked[at % prompts]!, Math.floor(at / prompts)))
      for (const turn of turns) expected.set(turn, await ask(turn, 'off'))
    })

    /** Rotates a turn's documents and changes its question. */
    function turned(turn: Turn, round: number): Turn {
      const first = round % turn.blocks.length
      const blocks = [...turn.blocks.slice(first), ...turn.blocks.slice(0, first)]
      return { ...turn, blocks, question: `${turn.question} (${round})` }
    }

    async function ask(turn: Turn, reuse: string, tenant = 'everybody'): Promise<Answer> {
      const response = await request(`${deployed().proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${tenant}`,
          'x-reprise-options': `reorder=off,dedup=off,reuse=${reuse}`,
        },
        body: JSON.stringify({
          model: modelName,
          max_tokens: 9,
          temperature: 0,
          logprobs: true,
          messages: [SYSTEM_MESSAGE, toUserMessage({ ...turn, isPlain: true })],
        }),
      })
      const text = await response.body.text()
      expect(response.statusCode, text).toBe(200)
      const { choices, usage } = JSON.parse(text)
      const content: { token: string; logprob: number }[] = choices[0].logprobs.content
      return {
        tokens: content.map(({ token }) => token),
        logprobs: content.map(({ logprob }) => logprob),
        reused: usage.prompt_tokens_details?.reused_tokens ?? 0,
      }
    }

    function expectSame(answer: Answer, turn: Turn): void {
      const { tokens, logprobs } = expected.get(turn)!
      const parted = tokens.findIndex((token, at) => token !== answer.tokens[at])
      const compared = parted < 0 ? tokens.length : parted + 1
      for (let at = 0; at < compared; at += 1) {
        expect(Math.abs(logprobs[at]! - answer.logprobs[at]!), `${turn.question}, token ${at}`).toBeLessThan(tie)
      }
    }

    /** Asks all turns, twelve at a time. Returns how those failed that the end of an engine cut off. */
    async function askAll(asked: readonly Turn[], reuse: string): Promise<string[]> {
      const waiting = [...asked]
      const failed: string[] = []
      const client = async (): Promise<void> => {
        for (let turn = waiting.shift(); turn; turn = waiting.shift()) {
          const one = turn
          const answer = await ask(one, reuse).catch((error: Error) => {
            // only errors from a killed engine are accepted; a wrong answer is not one of them
            if (!/502|503|ECONN|other side/.test(error.message)) throw error
            failed.push(error.message)
          })
          if (answer && reuse === '1') expectSame(answer, one)
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
      return failed
    }

    async function files(): Promise<string[]> {
      const folder = join(deployed().folder, segmentsFolder)
      const names = await readdir(folder, { recursive: true })
      return names.filter((name) => name.endsWith('.safetensors')).map((name) => join(folder, name))
    }

    test('twelve clients at once get the answers that each gets alone', async () => {
      expect(await askAll(turns, '1')).toEqual([])
      expect((await files()).length).toBeGreaterThan(10)
    })

    test('with the fewest rows computed again they are all answered, from memory and from disk', async () => {
      expect(await askAll(turns, '0')).toEqual([])
    })

    test('an engine that was killed in the middle of it goes on with what its files hold, less what is damaged', async () => {
      const killed = setTimeout(() => void deployed().engine.kill(), 1500)
      await askAll(turns, '1')
      clearTimeout(killed)
      await deployed().engine.kill()
      const left = await files()
      expect(left.length).toBeGreaterThan(10)
      for (const [at, path] of left.entries()) {
        if (at % 4 === 0) await truncate(path, 1000)
        if (at % 4 === 1) await writeFile(path, flipped(await readFile(path), at))
      }
      await deployed().engine.start()
      await deployed().proxy.waitUntilExact()
      // an engine learns in its first step what its workers have on disk
      await ask({ ...turns[0]!, blocks: [] }, 'off')
      const again = turns.slice(0, prompts).map((turn) => turned(turn, 3))
      // half are damaged; the others are still there
      expect((await files()).length).toBeGreaterThan(left.length / 3)
      let reused = 0
      for (const turn of again) reused += (await ask(turn, '0')).reused
      expect(reused).toBeGreaterThan(1000)
      expect(await askAll(turns, '1')).toEqual([])
      expect(deployed().engine.log).toMatch(/is damaged and is not used|cannot be read and is not used/)
    })
  })

function flipped(data: Buffer, at: number): Buffer {
  const place = (at * 7919) % data.length
  data[place]! ^= 1 << (at % 8)
  return data
}
