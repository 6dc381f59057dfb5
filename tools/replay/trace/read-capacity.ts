import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The file beside a recorded trace that describes the engine. */
const metaFile = 'meta.json'

/**
 * Returns how many tokens the engine's cache held, as recorded beside a trace; undefined if that is not known. An
 * unreadable file is ignored, since a trace is complete without it.
 */
export function readCapacity(folder: string): number | undefined {
  try {
    const { capacity_tokens: tokens } = JSON.parse(readFileSync(join(folder, metaFile), 'utf8')) as {
      capacity_tokens?: unknown
    }
    return Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : undefined
  } catch {
    return undefined
  }
}
