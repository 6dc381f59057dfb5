import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { defaultConfig } from '#proxy/config/sources/config-source.ts'
import { startProxy } from '#proxy/start/main.ts'
import { EngineConnection } from '../engine-connection.ts'
import type { ReplayProgress } from '../replay/report/replay-progress.ts'
import { type ChatMessage, type ComparedRequest, toBody } from './compared-requests.ts'
import type { Pass } from './passes.ts'
import type { ResultsFile } from './results-file.ts'
import { type SentChat, sendChat, toChatBody } from './send-request.ts'

// a proxy that only puts blocks into their place
const nothing = { reorder: false, annotate: false, dedup: false }

/** How requests are sent. */
export interface PassSettings {
  readonly engine: EngineSettings
  readonly engineKey: string | undefined
  readonly model: string
  readonly maxTokens: number
  /** distinguishes the salts of one comparison from those of others */
  readonly run: string
  readonly signal: AbortSignal
  /** Waits while the engine is busy. Rejects once `signal` is aborted. */
  readonly wait: SentChat['wait']
}

interface RunningPasses {
  readonly requests: readonly ComparedRequest[]
  readonly settings: PassSettings
  readonly results: ResultsFile
  readonly progress: ReplayProgress
}

/**
 * Sends all requests one after the other, pass by pass, each pass against a separate cache if the engine takes salts:
 * what one pass leaves there does not help another. Known answers are not requested again, but their prompts are sent
 * for one token, so that the caches, and what is believed about them, are as before the interruption.
 */
export async function runPasses(passes: readonly Pass[], running: RunningPasses): Promise<void> {
  for (const pass of passes) {
    running.progress.begin(pass.name)
    await runPass(pass, running)
  }
}

async function runPass(pass: Pass, { requests, settings, results, progress }: RunningPasses): Promise<void> {
  if (requests.every(({ id }) => results.get(pass.name, id))) {
    for (const _ of requests) progress.advance()
    return
  }
  // no engine knows the `reprise` field: a proxy must put the request's blocks into its prompt
  const hasOwnField = requests.some(({ chat }) => 'received' in chat && chat.received.reprise !== undefined)
  const options = pass.options ?? (hasOwnField ? nothing : undefined)
  const proxy = options && (await startOwnProxy(settings, options))
  const { engine, engineKey: token, signal } = settings
  const connection = new EngineConnection(proxy?.url ?? engine.url, { token, signal })
  try {
    for (const [i, request] of requests.entries()) {
      const known = results.get(pass.name, request.id)
      const answer = await sendChat(connection, {
        name: `request ${request.id} of pass ${pass.name}`,
        body: toChatBody(toBody(request, historyOf(requests, i, results)), {
          model: settings.model,
          // enough that numbers in the answer could be mapped back: a shorter answer keeps numbered lists in place
          maxTokens: known ? 5 : settings.maxTokens,
          cacheSalt: takesSalts(engine) ? `${settings.run}-${pass.name}-${request.tenant}` : undefined,
          hasLogProbabilities: !results.hasRefusedLogProbabilities,
        }),
        headers: headersOf(request),
        wait: settings.wait,
      })
      if (!known) results.add(pass.name, request.id, answer)
      progress.advance()
    }
  } finally {
    await connection.close()
    await proxy?.close()
  }
}

function headersOf({ conversation, keepsOrder, chat }: ComparedRequest): SentChat['headers'] {
  return {
    ...(conversation === undefined || !('received' in chat) ? {} : { 'x-reprise-conversation': conversation }),
    ...(keepsOrder ? { 'x-reprise-options': 'reorder=off' } : {}),
  }
}

/** Whether salts keep passes apart in the engine's cache. */
export function takesSalts({ kind = 'openai' }: Pick<EngineSettings, 'kind'>): boolean {
  return adapterFor(kind).salts.length > 0
}

/**
 * Returns what was said before in the request's conversation: in every pass, the engine's answers to the requests as
 * received. Nothing if its body has it.
 */
function historyOf(requests: readonly ComparedRequest[], at: number, results: ResultsFile): ChatMessage[] {
  const { conversation, chat } = requests[at]!
  if (conversation === undefined || 'received' in chat) return []
  return requests.slice(0, at).flatMap((earlier): ChatMessage[] => {
    const said = earlier.conversation === conversation ? results.get('received', earlier.id) : undefined
    return said && 'message' in earlier.chat ? [earlier.chat.message, { role: 'assistant', content: said.answer }] : []
  })
}

/** Starts a proxy that does what the pass wants, and knows nothing yet. */
function startOwnProxy(
  { engine, engineKey }: PassSettings,
  options: NonNullable<Pass['options']>,
): ReturnType<typeof startProxy> {
  const standard = defaultConfig()
  const { url, kind = 'openai' } = engine
  return startProxy({
    ...standard,
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0' },
    mode: 'on',
    engines: [{ url, kind, id: 'engine', api_key: engineKey }],
    options: Object.entries(options)
      .map(([name, isOn]) => `${name}=${isOn ? 'on' : 'off'}`)
      .join(),
    logs: { ...standard.logs, level: 'silent' },
  })
}
