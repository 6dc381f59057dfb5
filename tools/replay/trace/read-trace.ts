import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigError } from '#proxy/common/errors.ts'
import { readBlocks, readContexts } from './read-contexts.ts'
import { readJsonLines } from './read-json-lines.ts'
import type { Trace } from './trace.ts'

const requestFiles = ['queries.jsonl', 'turns.jsonl', 'questions.jsonl']

interface ReadOptions {
  /** Count blocks of unknown size as one token each instead of throwing. */
  readonly unknownSizes?: boolean
  /** Called at most once, with a description of what was left out. By default, it is printed to standard error. */
  readonly warn?: (message: string) => unknown
}

/**
 * Reads a trace, given as its folder or its file of requests; the file of blocks must be in the same folder. Cut or
 * damaged parts of gzipped files are left out with the requests that need them, and a warning says so.
 */
export async function readTrace(path: string, options: ReadOptions = {}): Promise<Trace> {
  const { warn = (message) => process.stderr.write(`warning: ${message}\n`), unknownSizes = false } = options
  const found = findTrace(path)
  const name = basename(dirname(resolve(found.requests)))
  const requests = await readJsonLines(found.requests)
  const { lines } = requests
  if (lines.length === 0) throw new ConfigError(`${found.requests} is empty: it should hold a request a line`)
  if (found.blocks === undefined && !unknownSizes) {
    throw new ConfigError(`there is no blocks.jsonl or blocks.jsonl.gz beside ${found.requests}`, 2)
  }
  const blocks = found.blocks === undefined ? { lines: [], lost: 0, size: 0 } : await readJsonLines(found.blocks)
  const unknown = unknownSizes ? 'one_token' : blocks.lost > 0 ? 'leave_out' : 'refuse'
  const known = readBlocks(blocks.lines, unknown, blocks.lost > 0)
  const { incomplete, ...read } = readContexts(lines, known, unknown)
  const damaged = [
    { file: found.requests, ...requests },
    { file: found.blocks, ...blocks },
  ].filter(({ lost }) => lost > 0)
  const losses = damaged.map(({ file, lost, size }) => {
    return `${file} is cut or damaged: ${lost} of its ${size} bytes are left out`
  })
  const further = incomplete > 0 ? `, and ${incomplete} requests that name blocks of it` : ''
  // one line says how much is left out of both files, and how many requests for lack of their blocks
  if (losses.length > 0) warn(losses.join('; ') + further)
  return { name, ...read, capacityTokens: readCapacity(dirname(found.requests)) }
}

/** The file beside a recorded trace that describes the engine. */
const metaFile = 'meta.json'

/**
 * Returns how many tokens the engine's cache held, as recorded beside a trace; undefined if that is not known. An
 * unreadable file is ignored, since a trace is complete without it.
 */
function readCapacity(folder: string): number | undefined {
  try {
    const { capacity_tokens: tokens } = JSON.parse(readFileSync(join(folder, metaFile), 'utf8')) as {
      capacity_tokens?: unknown
    }
    return Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : undefined
  } catch {
    return undefined
  }
}

/** Finds the files of a trace, given as its folder or its file of requests. Throws a `ConfigError` if there is none. */
function findTrace(path: string): { readonly requests: string; readonly blocks: string | undefined } {
  if (!existsSync(path)) throw new ConfigError(`the trace ${path} does not exist`, 2)
  const requests = statSync(path).isDirectory() ? findFile(path, requestFiles) : path
  if (requests !== undefined) return { requests, blocks: findFile(dirname(requests), ['blocks.jsonl']) }
  const wanted = requestFiles.join(' or ')
  throw new ConfigError(`the trace folder ${path} has no ${wanted} (with or without .gz)`, 2)
}

function findFile(folder: string, names: readonly string[]): string | undefined {
  return names
    .flatMap((name) => [name, `${name}.gz`])
    .map((name) => join(folder, name))
    .find((file) => existsSync(file))
}
