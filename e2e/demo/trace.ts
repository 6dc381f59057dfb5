import { ConfigError } from '#proxy/common/errors.ts'
import { readTrace as readReplayTrace } from '#tools/replay/trace/read-trace.ts'
import { defaultTenant, type TraceBlock, type TraceRequest } from '#tools/replay/trace/trace.ts'
import { DemoError } from './demo-error.ts'
import type { ContextBlock, Turn, Workload } from './workload.ts'

const NO_QUESTION = 'What do these documents say? Give a summary.'

/** Reads a trace: its requests in order of arrival, each with the texts of its blocks. */
export async function readTrace(path: string): Promise<Workload> {
  const { name, requests } = await readReplayTrace(path).catch((error: Error) => {
    throw error instanceof ConfigError ? new DemoError(error.message, error.exitCode) : error
  })
  return { name, turns: requests.map(toTurn) }
}

function toTurn({ queryId, query, conversation, tenant, blocks }: TraceRequest): Turn {
  return {
    id: String(queryId),
    conversation,
    tenant: tenant === defaultTenant ? undefined : tenant,
    question: query ?? NO_QUESTION,
    blocks: blocks.map(toContextBlock),
  }
}

function toContextBlock({ key, id, text }: TraceBlock): ContextBlock {
  if (text === undefined) throw new DemoError(`block ${key} of the trace has no "text", and the demo sends texts`)
  return { id: String(id), text }
}
