import { DemoError } from './demo-error.ts'
import type { ContextBlock, Turn } from './workload.ts'

const BATCH = 500

/** Registers all documents with a proxy, in the order of their corpus. */
export async function registerChunks(adminUrl: string, turns: readonly Turn[]): Promise<void> {
  const blocks = new Map<string, ContextBlock>()
  for (const block of turns.flatMap((turn) => turn.blocks)) blocks.set(block.id, block)
  const chunks = [...blocks.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))
  for (let at = 0; at < chunks.length; at += BATCH) {
    const body = JSON.stringify({ chunks: chunks.slice(at, at + BATCH) })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${adminUrl}/v1/chunks`, { method: 'PUT', headers, body })
    if (!response.ok) throw new DemoError(`the proxy did not take the chunks: ${await response.text()}`)
  }
}
