import { basename, dirname, resolve } from 'node:path'
import { ReplayError } from '../replay-error.ts'
import { findTrace } from './find-trace.ts'
import { readBlocks } from './read-blocks.ts'
import { readCalls } from './read-calls.ts'
import { readContexts } from './read-contexts.ts'
import { readJsonLines } from './read-json-lines.ts'
import { readPrefixes } from './read-prefixes.ts'
import type { Trace } from './trace.ts'

/** Options for reading a trace. */
export interface ReadOptions {
  /** Count blocks of unknown size as one token each instead of throwing. */
  readonly unknownSizes?: boolean
}

/** Reads a trace, given as its folder or its file of requests; the file of blocks must be in the same folder. */
export async function readTrace(path: string, options: ReadOptions = {}): Promise<Trace> {
  const found = findTrace(path)
  const name = basename(dirname(resolve(found.requests)))
  const lines = await readJsonLines(found.requests)
  if (lines.length === 0) throw new ReplayError(`${found.requests} is empty: it should hold a request a line`)
  if (found.kind === 'prefixes') return { name, requests: readPrefixes(lines), skipped: 0 }
  if (found.kind === 'calls') return { name, requests: readCalls(lines), skipped: 0 }
  const isStrict = options.unknownSizes !== true
  if (found.blocks === undefined && isStrict) {
    throw new ReplayError(`there is no blocks.jsonl or blocks.jsonl.gz beside ${found.requests}`, 2)
  }
  const blockLines = found.blocks === undefined ? [] : await readJsonLines(found.blocks)
  return { name, ...readContexts(lines, readBlocks(blockLines, isStrict), isStrict) }
}
