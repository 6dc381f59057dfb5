import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A text with its identity. */
export interface Item {
  readonly id: string
  readonly text: string
}

/** A question and what was retrieved for it, best first. */
export interface Retrieved {
  readonly question: string
  readonly items: readonly Item[]
}

/** Real texts may not be copied into the project: a folder named by REPRISE_TRACES, or the one next to the checkout. */
export const traces: string = process.env.REPRISE_TRACES ?? join(import.meta.dirname, '../../../shared/data')
export const hasTraces: boolean = existsSync(join(traces, 'rag_cookbook_docs'))

export function readLines<T>(path: string): T[] {
  const lines = gunzipSync(readFileSync(join(traces, path)))
    .toString()
    .split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T)
}

interface Query {
  readonly query: string
  readonly blocks: readonly string[]
  readonly real_vdb?: readonly string[]
  readonly arrival?: number
}

/** Requests of a trace in the order of their arrival, without documents that come twice. */
export function readTrace(
  name: string,
  {
    top = 15,
    limit = 150,
    clip = 4_000,
    dense = false,
  }: { top?: number; limit?: number; clip?: number; dense?: boolean } = {},
): Retrieved[] {
  const texts = new Map(
    readLines<Item>(`${name}/blocks.jsonl.gz`).map(({ id, text }) => [id, text.trim().slice(0, clip)]),
  )
  const queries = readLines<Query>(`${name}/queries.jsonl.gz`).toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0))
  return queries.slice(0, limit).map((query) => {
    const own = new Map<string, string>()
    for (const id of [...new Set(dense ? (query.real_vdb ?? []) : query.blocks)].slice(0, top)) {
      const text = texts.get(id)
      if (text && ![...own.values()].includes(text)) own.set(id, text)
    }
    return { question: query.query.trim(), items: [...own].map(([id, text]) => ({ id, text })) }
  })
}
