import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Turn } from '../demo/workload.ts'
import type { DeployedTests } from './describe-deployed.ts'
import { segmentsFolder } from './engine.ts'
import { checkoutTurns } from './prompts.ts'
import { askScored, expectSameScores, type ScoredAnswer } from './scored-answer.ts'

/*
 * Reuse at any position under adverse conditions: host memory for six prompts, the rest on disk, twelve clients at
 * once, the engine killed, files damaged. If everything reused is also recomputed, the answer must equal that of an
 * engine without reuse; a row of another prompt, tenant or engine run would show in it.
 */

const clients = 12
const prompts = 24
/** 1,000 in a long run; each prompt is repeated with its documents in a different order each time */
const answers = Number(process.env.REPRISE_TEST_ANSWERS ?? 48)

/** What no adversity may change. */
export const testReuseFaults: DeployedTests = (deployed) =>
  describe('reuse with little memory and a disk', () => {
    let turns: Turn[]
    const expected = new Map<Turn, ScoredAnswer>()

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

    const ask = (turn: Turn, reuse: string): Promise<ScoredAnswer> =>
      askScored(deployed().proxy.url, turn, `reuse=${reuse}`)

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
          if (answer && reuse === '1') expectSameScores(answer, expected.get(one)!, one.question)
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
