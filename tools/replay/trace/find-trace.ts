import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReplayError } from '../replay-error.ts'

const requestFiles = ['queries.jsonl', 'turns.jsonl', 'questions.jsonl']

/** The files of a trace. */
interface FoundTrace {
  readonly requests: string
  readonly blocks: string | undefined
}

/** Finds the files of a trace, given as its folder or its file of requests. Throws a `ReplayError` if there is none. */
export function findTrace(path: string): FoundTrace {
  if (!existsSync(path)) throw new ReplayError(`the trace ${path} does not exist`, 2)
  const requests = statSync(path).isDirectory() ? findRequests(path) : path
  return { requests, blocks: findFile(dirname(requests), ['blocks.jsonl']) }
}

function findRequests(folder: string): string {
  const found = findFile(folder, requestFiles)
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
