import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Texts } from './stream.ts'
import { type Item, type Retrieved, readLines, readTrace, traces } from './traces.ts'

/** Prompts of ordered kinds, next to the traces. */
const prompts = join(traces, '../precision')

interface Message {
  readonly content?: string | readonly { readonly text?: string }[] | null
}

export function readTexts(): Texts {
  const hotpot = readTrace('rag_hotpot', { limit: 100 })
  const code = readTrace('rag_cookbook_code')
  const docs = readTrace('rag_cookbook_docs')
  return {
    passages: textsOf(hotpot),
    code: textsOf(code),
    talks: readTalks(),
    questions: [...hotpot, ...readTrace('rag_musique', { limit: 200 })].map(({ question }) => question),
    byTrace: { hotpot, code, docs },
    ordered: readOrdered(),
  }
}

function textsOf(rows: readonly Retrieved[]): string[] {
  const byId = new Map(rows.flatMap(({ items }) => items.map(({ id, text }) => [id, text] as const)))
  return [...byId].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

function readTalks(): string[][] {
  const talks = new Map<string, string[]>()
  for (const { id, text } of readLines<Item>('memory_locomo/blocks.jsonl.gz')) {
    const talk = id.split(':')[0]!
    talks.set(talk, [...(talks.get(talk) ?? []), text])
  }
  return [...talks.values()]
}

function readOrdered(): Map<string, string[][]> {
  const kinds = new Map<string, string[][]>()
  for (const name of ['negatives', 'hard_negatives']) {
    const path = join(prompts, `${name}.jsonl`)
    if (!existsSync(path)) continue
    for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
      const { kind, messages } = JSON.parse(line) as { kind: string; messages: readonly Message[] }
      const text = messages.map(flatten).join('\n\n')
      const paragraphs = text.split('\n\n').filter(Boolean)
      const own = paragraphs.length < 6 ? text.split('\n').filter(Boolean) : paragraphs
      kinds.set(kind, [...(kinds.get(kind) ?? []), own])
    }
  }
  return kinds
}

function flatten({ content }: Message): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join('\n\n')
}
