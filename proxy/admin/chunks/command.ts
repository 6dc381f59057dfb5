import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Command } from 'commander'
import type { GivenChunk, PutReport } from '../../chunks/known-chunks.ts'
import { ConfigError, ofFile, ProxyError } from '../../common/errors.ts'
import { splitLines } from '../../common/json/split-lines.ts'
import { askAdmin, withAdmin } from '../../config/ask-admin.ts'
import { argument, readUrl } from '../../config/read-arguments.ts'
import { checkProxy, type PreprocessOptions, preprocess } from './preprocess.ts'
import { readChunkLine, toChunk } from './read-chunks.ts'

interface AddOptions extends PreprocessOptions {
  readonly preprocess?: boolean
}

/** A batch is sent once it reaches one of these sizes. */
const batchCharacters = 2 << 20
const batchChunks = 2_000

/** Adds `reprise chunks`, which registers the chunks of a corpus with a running proxy. */
export function addChunksCommand(program: Command): void {
  const chunks = program.command('chunks').description('the chunks whose borders a running proxy knows in any prompt')
  withAdmin(chunks.command('add'))
    .description(
      'registers chunks: JSONL of {"id"?,"text"}, a text file, a folder of such files, or - for JSONL from stdin',
    )
    .argument('<file>', 'FILE, FOLDER or -')
    .argument('[options...]', 'behind --: options of preprocessing, such as --contexts 8')
    .option('--tenant <name>', 'the tenant for which they are known; without it, everyone')
    .option(
      '--preprocess',
      'has the engine compute them, in several contexts, before anybody asks (vLLM with our plugin)',
    )
    .option(
      '--proxy <url>',
      'where applications connect (key: REPRISE_API_KEY)',
      argument(readUrl),
      'http://127.0.0.1:8080',
    )
    .option('--python <program>', 'a Python with the package reprise-kernels', 'python3')
    .option('--state <file>', 'what is preprocessed, to go on from', 'preprocess.state')
    .action(addAll)
  withAdmin(chunks.command('count'))
    .description('says how many chunks are known')
    .action(async ({ admin }: { admin: string }) => {
      const known = await askAdmin<object>(admin, '/v1/chunks', 'GET')
      process.stdout.write(`${JSON.stringify(known)}\n`)
    })
}

async function addAll(file: string, rest: readonly string[], options: AddOptions): Promise<void> {
  if (!options.preprocess && rest.length > 0)
    throw new ConfigError(`'${rest[0]}' is an option of --preprocess, which is missing.`, 2)
  const register = (keep: (chunk: GivenChunk) => void): Promise<PutReport> => add(file, options, keep)
  if (options.preprocess) await checkProxy(options, process.env.REPRISE_API_KEY || undefined)
  const sum = options.preprocess ? await preprocess(options, rest, register) : await register(() => {})
  process.stdout.write(`${JSON.stringify(sum)}\n`)
}

/** Registers the chunks of a file or folder, each of which is passed to `keep`, too. */
async function add(file: string, { admin, tenant }: AddOptions, keep: (chunk: GivenChunk) => void): Promise<PutReport> {
  const sum: PutReport = { added: 0, known: 0, too_short: 0, crowded: 0 }
  let batch: GivenChunk[] = []
  let characters = 0
  const send = async (): Promise<void> => {
    if (batch.length === 0) return
    const report = await askAdmin<PutReport>(admin, '/v1/chunks', 'PUT', JSON.stringify({ chunks: batch, tenant }))
    for (const outcome of Object.keys(sum) as (keyof PutReport)[]) sum[outcome] += report[outcome]
    batch = []
    characters = 0
  }
  try {
    for await (const chunk of readInput(file)) {
      batch.push(chunk)
      keep(chunk)
      characters += chunk.text.length
      if (batch.length >= batchChunks || characters >= batchCharacters) await send()
    }
    await send()
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof ProxyError)) throw error
    const before = sum.added + sum.known
    const done = `${error.message.replace(/\.$/, '')}. ${before} chunks before it are registered.`
    throw new ConfigError(before > 0 ? done : error.message, error instanceof ConfigError ? error.exitCode : 1)
  }
  return sum
}

async function* readInput(file: string): AsyncGenerator<GivenChunk> {
  if (file === '-') return yield* readJsonLines(process.stdin, 'stdin')
  if (!stat(file)) return yield* readFile(file, file)
  for (const name of readdirSync(file, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(file, name)
    if (!stat(path)) yield* readFile(path, relative('', path))
  }
}

/** Yields the chunks of one file, which is named where it cannot be read. */
async function* readFile(path: string, name: string): AsyncGenerator<GivenChunk> {
  try {
    yield* readChunks(path, name)
  } catch (error) {
    throw ofFile(name, error)
  }
}

async function* readChunks(path: string, name: string): AsyncGenerator<GivenChunk> {
  if (/\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(path)) {
    const bytes = createReadStream(path)
    // unlike `pipe`, it passes on that reading failed
    const lines = path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => {}) : bytes
    return yield* readJsonLines(lines, name)
  }
  const text = new TextDecoder().decode(readFileSync(path))
  if (!/\.json$/i.test(path)) return yield { id: name, text }
  const value = parse(text, name)
  const chunks = Array.isArray(value) ? value : (value as { chunks?: unknown } | null)?.chunks
  if (!Array.isArray(chunks)) throw new ConfigError(`${name} holds no chunks: write an array of {"id"?,"text"}.`)
  for (const [i, item] of chunks.entries()) yield toChunk(item, `${name}: chunk ${i + 1}`)
}

async function* readJsonLines(stream: Readable, name: string): AsyncGenerator<GivenChunk> {
  let number = 0
  for await (const line of splitLines(stream)) {
    number += 1
    const chunk = readChunkLine(line, `${name}: line ${number}`)
    if (chunk) yield chunk
  }
}

function stat(path: string): boolean {
  try {
    const found = statSync(path)
    if (found.isCharacterDevice()) throw new Error('a device may have no end')
    return found.isDirectory()
  } catch {
    throw new ConfigError(`${path} cannot be read: name a file, a folder, or - for the standard input.`, 2)
  }
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${name} is not valid JSON: ${(error as Error).message}.`)
  }
}
