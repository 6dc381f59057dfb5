import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mergeValues, render, type Values } from '../chart/render.ts'
import { root } from '../chart/tools/tool-path.ts'
import { findFreePort } from '../demo/find-free-port.ts'
import { waitFor } from '../redis-server.ts'
import { Load, prompt } from './load.ts'
import { PodDouble } from './pod-double.ts'
import { readPodTemplate } from './pod-spec.ts'
import { buildWheels } from './wheels.ts'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reprise', 'vllm-0.32.0')
const model = join(cache, 'test-model')
const isSetUp = existsSync(join(cache, 'venv', 'bin', 'vllm')) && existsSync(join(model, 'model.safetensors'))
const minutes = 60_000

/** What vLLM needs on a CPU; command, other arguments, variables, probes and hooks are the chart's own. */
const forCpu: Values = {
  servedModelName: 'test',
  extraArgs: [
    '--dtype=float32',
    '--max-model-len=8192',
    '--enforce-eager',
    '--block-size=32',
    '--num-gpu-blocks-override=2000',
  ],
  extraEnv: Object.entries({
    HF_HUB_OFFLINE: '1',
    OMP_NUM_THREADS: '1',
    VLLM_CPU_KVCACHE_SPACE: '1',
    VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  }).map(([name, value]) => ({ name, value })),
  probes: { timeoutSeconds: 20 },
}

let folder: string | undefined
let pod: PodDouble | undefined
afterAll(async () => {
  await pod?.kill()
  if (folder) rmSync(folder, { recursive: true })
})

// `npm run test:engines` does the set-up
describe.runIf(isSetUp)('a pod with a real vLLM', () => {
  test('starts by the chart’s own flags, tells exactly what it has cached, and ends without losing a stream', {
    timeout: 15 * minutes,
  }, async () => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-vllm-pod-'))
    const [data, admin, port] = [await findFreePort(), await findFreePort(), await findFreePort()]
    const values: Values = {
      mode: 'sidecar',
      ports: { data, admin },
      probes: { timeoutSeconds: 20, startupSeconds: 120 },
      engine: mergeValues({ image: { repository: 'vllm/vllm-openai', tag: 'v0.32.0' }, model, port }, forCpu),
    }
    const images = {
      reprise: { entrypoint: [process.execPath, join(root, 'bin', 'reprise')] },
      'reprise-plugins': { entrypoint: [], folders: { '/plugins': buildWheels(folder) } },
      'vllm/vllm-openai': { entrypoint: [], env: { PATH: `${join(cache, 'venv', 'bin')}:${process.env.PATH}` } },
    }
    pod = new PodDouble(readPodTemplate(render(values)), { images, workingFolder: root })
    await pod.start()
    await pod.untilReady(600)
    const url = `http://127.0.0.1:${data}`

    const cached: unknown[] = []
    for (const i of [1, 2, 1]) cached.push(await askOnce(url, i))
    await waitFor(async () => (await mirrorMode(admin)) === 'exact', 60_000)
    expect(cached.at(-1)).toBeGreaterThan(0)

    const load = new Load(url, 4, 'test')
    await waitFor(() => load.requests > 12, 5 * minutes)
    const ending = pod.delete()
    // requests sent before clients can know of the shutdown are served; after that, each client's next request is
    // refused
    await waitFor(async () => !(await isServing(admin)), minutes)
    const { requests, failures } = await load.finished()
    await ending
    const { events, log } = pod
    process.stderr.write(`real vLLM: ${requests} requests, ${failures.length} refused once it had drained\n`)
    // requests may be refused or fail to connect, but must never be cut off
    const turnedAway = /^503 .*draining|ECONNREFUSED|other side closed|ECONNRESET/
    expect(failures.filter(({ reason }) => !turnedAway.test(reason))).toEqual([])
    expect(failures.filter(({ reason }) => /not whole|terminated/.test(reason))).toEqual([])
    const said = events.map(({ container, what }) => `${container} ${what}`)
    const end = ['reprise stop hook', 'engine stop hook over', 'engine SIGTERM', 'engine ended']
    expect({ end: end.toSorted((a, b) => said.indexOf(a) - said.indexOf(b)), log }).toEqual({ end, log })
    expect(events.filter(({ detail }) => detail === 'SIGKILL')).toEqual([])
  })
})

/** Sends one prompt and returns the cached tokens reported by the engine. */
async function askOnce(url: string, i: number): Promise<number | undefined> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(prompt(1, i, 'test')),
  })
  const { usage } = (await response.json()) as { usage: { prompt_tokens_details?: { cached_tokens?: number } } }
  return usage.prompt_tokens_details?.cached_tokens
}

async function mirrorMode(admin: number): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${admin}/v1/mirror`)
  return ((await response.json()) as { replicas: { mode: string }[] }).replicas[0]?.mode
}

async function isServing(admin: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${admin}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
