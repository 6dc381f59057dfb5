import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Turn } from '../demo/workload.ts'
import { hasRedis } from '../redis-server.ts'
import { askAt } from './ask.ts'
import { Deployment } from './deployment.ts'
import type { EngineSpec, Source } from './engine.ts'
import { figuresOf, reportOf } from './figures.ts'
import { checkoutTurns, hasTrace, repeatedly, traceTurns } from './prompts.ts'
import type { Setup } from './set-up-engines.ts'
import { type Sent, Traffic } from './traffic.ts'

/** 200 in a long run; all of them together must exceed what the engine's cache holds */
const prompts = Number(process.env.REPRISE_TEST_PROMPTS ?? 90)
/** those of the trace are longer, and share less */
const tracePrompts = Math.ceil(prompts / 2)
/** Prompts sent before a fault, and prompts counted after it. */
const promptsBeforeFault = 24
const promptsAfterFault = 50
const probes = 10
/** The minimum share of predictions that must equal the engine's report. */
const leastExact = 0.98
const settleMilliseconds = 5_000
const shownLogCharacters = 2_000
const redisPauseMilliseconds = 10_000

/** What must hold for every engine, whichever way the proxy learns what it has cached. */
export function describeExactMirror(spec: EngineSpec, source: Source, setup: Setup): void {
  const missing = 'missing' in setup ? `${spec.name} is not here: ${setup.missing}` : hasRedis ? '' : 'no redis-server'
  const title = `reprise in front of ${spec.name}, told by ${source === 'callbacks' ? 'its plugin' : 'its KV events'}`

  describe.skipIf(missing !== '')(missing === '' ? title : `${title} (${missing})`, () => {
    let deployment: Deployment
    let tenants = 0

    beforeAll(async () => {
      if ('missing' in setup) return
      say(`${title}: starting`)
      deployment = await Deployment.start(spec, source, setup)
    })

    afterEach(({ task }) => {
      if (task.result?.state !== 'fail') return
      say(`${title}: the proxy said:\n${deployment?.proxy.log.slice(-shownLogCharacters)}`)
      say(`${title}: the engine said:\n${deployment?.engine.log.slice(-shownLogCharacters)}`)
    })

    afterAll(() => deployment?.close())

    /** Sends turns for a tenant that has nothing cached yet. */
    const send = (label: string, turns: Iterable<Turn>, tenant = `tenant-${tenants++}`): Traffic =>
      new Traffic(askAt(deployment.proxy.url, tenant), turns, (answered) => {
        if (answered % 50 === 0) say(`${title}: ${label}: ${answered}`)
      })

    const expectTrue = (label: string, sent: readonly Sent[]): void => {
      const report = reportOf(`${title}: ${label}`, sent, spec.blockSize)
      say(headOf(report))
      const { answered, exact, cachedTokens } = figuresOf(sent)
      expect.soft(cachedTokens, report).toBeGreaterThan(0)
      // soft: a failure here must not hide what the probes find
      expect.soft(exact / answered, report).toBeGreaterThanOrEqual(leastExact)
    }

    /**
     * Repeats prompts one by one, once all is quiet: the proxy must not believe cached what the engine does not find.
     */
    const expectNothingLost = async (sent: readonly Sent[], tenant: string): Promise<void> => {
      const ask = askAt(deployment.proxy.url, tenant)
      const probed: Sent[] = []
      // the newest first, because they are still cached, down to the oldest, which are not
      const step = Math.ceil(sent.length / probes)
      for (const { turn } of sent.toReversed().filter((_, at) => at % step === 0)) {
        await deployment.proxy.waitUntilQuiet()
        probed.push(...(await new Traffic(ask, [turn]).finished()))
      }
      const report = reportOf(`${title}: repeated`, probed, spec.blockSize)
      say(headOf(report))
      expect(failuresOf(probed), report).toEqual([])
      expect((await deployment.proxy.mirror()).mode, report).toBe('exact')
      const { over, cachedTokens, promptTokens } = figuresOf(probed)
      const hostTokens = probed.reduce((sum, { answer }) => sum + (answer?.host ?? 0), 0)
      say(`${title}: repeated: ${hostTokens} predicted in host memory`)
      expect(cachedTokens, report).toBeGreaterThan(0)
      // evictions were forced, so not everything can be cached, unless it is in host memory
      if (spec.offloads === source) expect.soft(hostTokens, report).toBeGreaterThan(0)
      else expect(cachedTokens, report).toBeLessThan(0.9 * promptTokens)
      expect(over, report).toBe(0)
    }

    const expectExactAndNothingLost = async (label: string, turns: readonly Turn[]): Promise<void> => {
      const tenant = `tenant-${tenants++}`
      const sent = await send(label, turns, tenant).finished()
      expect(failuresOf(sent)).toEqual([])
      expectTrue(label, sent)
      await expectNothingLost(sent, tenant)
    }

    test(`predicts what the engine reports of ${prompts} prompts with documentation, and believes nothing lost`, async () => {
      await expectExactAndNothingLost('documentation', await checkoutTurns(prompts))
    })

    /** A test of what does not depend on how the engine tells: once for each engine. */
    const testOnce: typeof test | undefined = source === 'callbacks' ? test : undefined
    testOnce?.skipIf(!hasTrace)(
      `predicts what the engine reports of ${tracePrompts} prompts of a trace (rag_musique)`,
      async () => {
        await expectExactAndNothingLost('trace', await traceTurns(tracePrompts))
      },
    )

    /**
     * Causes a fault during traffic. Only the requests whose ids `fault` returns may fail; it resolves once all is
     * back.
     */
    const expectRecovery = async (
      label: string,
      fault: (traffic: Traffic) => Promise<ReadonlySet<string>>,
    ): Promise<void> => {
      const tenant = `tenant-${tenants++}`
      const traffic = send(label, repeatedly(await checkoutTurns(prompts)), tenant)
      let mayFail: ReadonlySet<string>
      let counted: Sent[]
      try {
        await traffic.more(promptsBeforeFault)
        mayFail = await fault(traffic)
        await pause(settleMilliseconds)
        counted = await traffic.more(promptsAfterFault)
      } finally {
        await traffic.end()
      }
      const failed = traffic.sent.filter(({ failure }) => failure !== undefined)
      expect(failed.filter(({ requestId }) => !mayFail.has(requestId)).map(({ failure }) => failure)).toEqual([])
      expectTrue(label, counted)
      await expectNothingLost(counted, tenant)
    }

    testOnce?.('predicts exactly again within 5 s of Redis being stopped for 10 s', async () => {
      await expectRecovery('after Redis was stopped', async () => {
        deployment.redis.signal('SIGSTOP')
        await pause(redisPauseMilliseconds)
        deployment.redis.signal('SIGCONT')
        return new Set()
      })
    })

    test('predicts exactly again within 5 s of the proxy being killed and started again', async () => {
      await expectRecovery('after the proxy was killed', async (traffic) => {
        const lost = traffic.underWay
        traffic.hold()
        await deployment.proxy.kill()
        await deployment.startProxy()
        traffic.resume()
        return lost
      })
    })

    test('predicts exactly again within 5 s of the engine being killed and started again', async () => {
      await expectRecovery('after the engine was killed', async (traffic) => {
        const lost = traffic.underWay
        traffic.hold()
        await deployment.engine.kill()
        await deployment.engine.start()
        traffic.resume()
        return lost
      })
    })
  })
}

function failuresOf(sent: readonly Sent[]): string[] {
  return sent.flatMap(({ failure }) => failure ?? [])
}

function headOf(report: string): string {
  return report.split('\n', 1)[0]!
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
