import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ReplayError } from '../replay-error.ts'

const requestFiles = ['queries.jsonl', 'turns.jsonl', 'questions.jsonl']
const prefixFile = 'conversation_trace.jsonl'
const callsFile = 'calls.jsonl'

/** The kind and the files of a trace. */
type FoundTrace =
  | { readonly kind: 'contexts'; readonly requests: string; readonly blocks: string | undefined }
  | { readonly kind: 'prefixes'; readonly requests: string }
  | { readonly kind: 'calls'; readonly requests: string }

/** Finds the files of a trace, given as its folder or its file of requests. Throws a `ReplayError` if there is none. */
export function findTrace(path: string): FoundTrace {
  if (!existsSync(path)) throw new ReplayError(`the trace ${path} does not exist`, 2)
  const requests = statSync(path).isDirectory() ? findRequests(path) : path
  const name = basename(requests).replace(/\.gz$/, '')
  if (name === prefixFile) return { kind: 'prefixes', requests }
  if (name === callsFile) return { kind: 'calls', requests }
  return { kind: 'contexts', requests, blocks: findFile(dirname(requests), ['blocks.jsonl']) }
}

function findRequests(folder: string): string {
  const found = findFile(folder, [...requestFiles, prefixFile, callsFile])
  if (found !== undefined) return found
  const wanted = requestFiles.join(' or ')
  throw new ReplayError(`the trace folder ${folder} has no ${wanted} (with or without .gz)`, 2)
}

function findFile(folder: string, names: readonly string[]): string | undefined {
  return names
    .flatMap((name) => [name, `${name}.gz`])
    .map((name) => join(folder, name))
    .find((file) => existsSync(file))
}
