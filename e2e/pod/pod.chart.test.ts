import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { mergeValues, render, type Values } from '../chart/render.ts'
import { root } from '../chart/tools/tool-path.ts'
import { findFreePort } from '../demo/find-free-port.ts'
import { waitFor } from '../redis-server.ts'
import { Reprises, type RunningReprise } from '../run-reprise.ts'
import type { ImageDouble } from './container-double.ts'
import { DeploymentDouble, type PodPorts } from './deployment-double.ts'
import { Load, type LoadReport, prompt } from './load.ts'
import { PodDouble, type PodEvent } from './pod-double.ts'
import { type PodTemplate, readPodTemplate, readTestPod } from './pod-spec.ts'
import { buildWheels } from './wheels.ts'

const clients = 6
// slow enough that a pod still has requests to finish when it ends
const emulator = 'exec node bin/reprise emulate --kind vllm --prefill-tokens-per-second 2000'

let folder: string
let images: Record<string, ImageDouble>
let deployment: DeploymentDouble | undefined
const reprises = new Reprises()

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-pods-'))
  const entrypoint = [process.execPath, join(root, 'bin', 'reprise')]
  images = {
    reprise: { entrypoint },
    'reprise-plugins': { entrypoint: [], folders: { '/plugins': buildWheels(folder) } },
    emulator: { entrypoint: [] },
  }
})
afterEach(async () => {
  await deployment?.close()
  deployment = undefined
  reprises.stopAll()
})
afterAll(() => rmSync(folder, { recursive: true }))

const quick: Values = {
  probes: { periodSeconds: 1, timeoutSeconds: 10, startupSeconds: 120 },
  config: { drain_delay_seconds: 4, logs: { level: 'info' } },
}

/** Returns the chart's sidecar pod with the emulator as the engine; everything else is as rendered. */
function sidecarPod(values: Values = {}): (ports: PodPorts) => PodTemplate {
  return ({ data, admin, engine }) => {
    const command = ['sh', '-c', `${emulator} --listen 127.0.0.1:${engine} --callback "$REPRISE_CALLBACK_URL"`]
    const own: Values = {
      mode: 'sidecar',
      ports: { data, admin },
      engine: {
        image: { repository: 'emulator', tag: 'here' },
        model: 'reprise-emulator',
        port: engine,
        command,
        probes: { periodSeconds: 1, timeoutSeconds: 10 },
      },
    }
    return readPodTemplate(render(mergeValues(mergeValues(quick, own), values)))
  }
}

async function start(template: (ports: PodPorts) => PodTemplate, replicas = 2): Promise<DeploymentDouble> {
  deployment = await DeploymentDouble.start(replicas, template, { images, workingFolder: root })
  return deployment
}

/** Sends requests during `work` and for a while after it. */
async function underLoad(url: string, work: () => Promise<void>): Promise<LoadReport> {
  const load = new Load(url, clients)
  await waitFor(() => load.requests > 20, 60_000)
  await work()
  const before = load.requests
  await waitFor(() => load.requests > before + 20, 60_000)
  const report = await load.finished()
  process.stderr.write(
    `${report.requests} requests, ${report.streams} of them streams, over ${report.connections} connections: ${report.failures.length} failed\n`,
  )
  return report
}

function orderOf(events: readonly PodEvent[], ...wanted: string[]): string[] {
  const said = events.map(({ container, what }) => `${container} ${what}`)
  return wanted.toSorted((a, b) => said.indexOf(a) - said.indexOf(b))
}

describe('a pod with an engine and reprise beside it', () => {
  test('a rolling restart under load loses no request, and the engine outlives reprise', async () => {
    const { pods, service } = await start(sidecarPod())
    const [{ events }] = pods as [PodDouble]
    // the start order of the pod's containers
    const beginning = ['reprise-plugin started', 'reprise-plugin ended', 'reprise started', 'engine started']
    expect(orderOf(events, ...beginning.toReversed())).toEqual(beginning)

    let gone: PodDouble[] = []
    const report = await underLoad(service.url, async () => {
      gone = await deployment!.rollOut(sidecarPod())
    })
    expect(report.failures).toEqual([])
    expect(report.requests).toBeGreaterThan(100)
    expect(report.streams).toBeGreaterThan(50)
    expect(gone).toHaveLength(2)
    for (const { events, log } of gone) {
      // the engine's hook ends when reprise no longer listens; by then nothing is in flight, and the engine ends
      const end = ['reprise stop hook', 'engine stop hook over', 'engine SIGTERM', 'engine ended']
      expect({ order: orderOf(events, ...end.toReversed()), log }).toEqual({ order: end, log })
      expect(events).not.toContainEqual(expect.objectContaining({ container: 'reprise', detail: 'SIGKILL' }))
      expect(events).not.toContainEqual(expect.objectContaining({ what: 'restarted' }))
    }
  })

  test('a change of the configuration rolls out without losing a request; SIGHUP takes it on without a new pod', async () => {
    const { service } = await start(sidecarPod())
    const ports = portsOf(deployment!.pods[0]!)
    const changed = sidecarPod({ config: { mode: 'shadow' } })
    const report = await underLoad(service.url, async () => {
      await deployment!.rollOut(changed)
    })
    expect(report.failures).toEqual([])
    const [after] = deployment!.pods as [PodDouble]
    // the changed checksum makes Kubernetes replace the pods
    const name = 'checksum/config'
    expect(changed(ports).annotations[name]).not.toBe(sidecarPod()(ports).annotations[name])
    expect(await modeOf(after)).toBe('shadow')

    const { configMaps } = sidecarPod({ config: { mode: 'off' } })(portsOf(after))
    const again = await underLoad(service.url, async () => {
      after.changeConfigMap('r-reprise', configMaps['r-reprise']!)
      after.container('reprise').signal('SIGHUP')
      await waitFor(async () => (await modeOf(after)) === 'off', 30_000)
    })
    expect(again.failures).toEqual([])
  })

  test('an engine that crashes is started again; what it had under way is all that is lost, and a client that tries again loses nothing', async () => {
    const { pods, service } = await start(sidecarPod())
    const [pod] = pods as [PodDouble]
    const load = new Load(service.url, clients)
    const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 6 })
    const calls = repeatCalls(openai)
    await waitFor(() => load.requests > 20, 60_000)
    const crashedAt = Date.now()
    pod.container('engine').signal('SIGKILL')
    await waitFor(() => !pod.isReady, 30_000)
    const unreadyAfter = Date.now() - crashedAt
    await pod.untilReady(240)
    const { failures, requests } = await load.finished()
    expect(await calls.finished()).toMatchObject({ failed: [] })
    expect(pod.events).toContainEqual(expect.objectContaining({ container: 'engine', what: 'restarted' }))
    // reprise kept running; only the engine was restarted
    expect(pod.container('reprise').starts).toBe(1)
    const reasons = new Set(failures.map(({ reason }) => reason.slice(0, 3)))
    process.stderr.write(
      `an engine crashed: unready after ${unreadyAfter} ms, ${failures.length} of ${requests} without retries failed\n`,
    )
    expect([...reasons].filter((reason) => !['502', '503', 'an ', 'oth', 'ter'].includes(reason))).toEqual([])
  })

  test('the plugin lands on the engine’s PYTHONPATH, and what the engine has cached is known exactly', async () => {
    const { pods, service } = await start(sidecarPod(), 1)
    const [pod] = pods as [PodDouble]
    const found = await pod.container('engine').exec(['python3', '-c', 'import reprise_vllm'], 30)
    expect(found).toBe(0)
    await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(prompt(1, 1)),
    })
    await waitFor(async () => (await mirrorModeOf(pod)) === 'exact', 30_000)
  })
})

describe('a gateway in front of two engines', () => {
  async function startEngine(port: number): Promise<RunningReprise> {
    return reprises.start([
      'emulate',
      '--kind',
      'vllm',
      '--prefill-tokens-per-second',
      '2000',
      '--listen',
      `127.0.0.1:${port}`,
    ])
  }

  function gatewayPod(engines: readonly number[], values: Values = {}): (ports: PodPorts) => PodTemplate {
    return ({ data, admin }) => {
      const own: Values = {
        mode: 'gateway',
        ports: { data, admin },
        engines: engines.map((port, i) => ({ url: `http://127.0.0.1:${port}`, kind: 'vllm', id: `gpu-${i}` })),
      }
      return readPodTemplate(render(mergeValues(mergeValues(quick, own), values)))
    }
  }

  test('helm test passes; a rolling restart loses nothing, nor does an engine’s crash for a client that tries again', async () => {
    const ports = [await findFreePort(), await findFreePort()]
    const [first] = await Promise.all(ports.map(startEngine))
    const { service } = await start(gatewayPod(ports))
    expect(await runHelmTest(service.url)).toEqual({
      code: 0,
      said: expect.stringContaining('answered through replica gpu-'),
    })

    const restarted = await underLoad(service.url, async () => {
      await deployment!.rollOut(gatewayPod(ports))
    })
    expect(restarted.failures).toEqual([])

    // with the SDK's default number of retries
    const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none' })
    const calls = repeatCalls(openai)
    await waitFor(() => calls.made() > 20, 60_000)
    first!.child.kill('SIGKILL')
    const before = calls.made()
    await waitFor(() => calls.made() > before + 40, 120_000)
    await startEngine(ports[0]!)
    expect(await calls.finished()).toMatchObject({ failed: [] })
  })

  test('without the delay a rolling restart turns requests away: the doubles would show it', async () => {
    const ports = [await findFreePort()]
    await Promise.all(ports.map(startEngine))
    const abrupt = gatewayPod(ports, { config: { drain_delay_seconds: 0 } })
    const { service } = await start(abrupt)
    const { failures } = await underLoad(service.url, async () => {
      await deployment!.rollOut(abrupt)
    })
    // with status 503 or a closed connection
    expect(failures.length).toBeGreaterThan(0)
  })

  test('helm test fails, and says why, where no engine answers', async () => {
    const { service } = await start(gatewayPod([await findFreePort()]), 1)
    expect(await runHelmTest(service.url)).toEqual({ code: 1, said: expect.stringContaining('answered 502') })
  })
})

/** Runs the pod of `helm test` as rendered, except for the Service's address. */
async function runHelmTest(url: string): Promise<{ code: number | string; said: string }> {
  const template = readTestPod(render({ engines: [{ url: 'http://unused:1' }] }))
  const [container] = template.spec.containers
  const env = container!.env!.map((variable) => (variable.name === 'BASE_URL' ? { ...variable, value: url } : variable))
  const pod = new PodDouble(
    { ...template, spec: { ...template.spec, containers: [{ ...container!, env }] } },
    { images, workingFolder: root },
  )
  const process = pod.container('request')
  process.start()
  const code = await process.exited
  await pod.kill()
  return { code, said: process.log }
}

/** Makes calls through OpenAI's SDK, one after another per client. */
function repeatCalls(openai: OpenAI): { made(): number; finished(): Promise<{ calls: number; failed: string[] }> } {
  const failed: string[] = []
  let calls = 0
  let isOver = false
  const run = async (client: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const body = prompt(client, i) as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming
      await openai.chat.completions.create(body).catch((error: Error) => failed.push(error.message))
      calls += 1
    }
  }
  const clients = [7, 8, 9].map(run)
  return {
    made: () => calls,
    finished: async () => {
      isOver = true
      await Promise.all(clients)
      return { calls, failed }
    },
  }
}

async function askAdmin(pod: PodDouble, path: string): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${pod.portOf('admin')}${path}`)).json()
}

async function modeOf(pod: PodDouble): Promise<string> {
  return ((await askAdmin(pod, '/v1/stats')) as { mode: string }).mode
}

async function mirrorModeOf(pod: PodDouble): Promise<string | undefined> {
  return ((await askAdmin(pod, '/v1/mirror')) as { replicas: { mode: string }[] }).replicas[0]?.mode
}

function portsOf(pod: PodDouble): PodPorts {
  const [, engine] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(pod.template.configMaps['r-reprise']!['reprise.yaml']!)!
  return { data: pod.portOf('http'), admin: pod.portOf('admin'), engine: Number(engine) }
}
