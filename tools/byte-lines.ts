import { readSync } from 'node:fs'
import { ConfigError, ofFile } from '#proxy/common/errors.ts'

/** A line of a file, without its end. */
interface ByteLine {
  /** from 1 */
  readonly number: number
  /** where it begins in the file, in bytes */
  readonly at: number
  readonly bytes: Buffer
}

/** In bytes: more than any engine reads. */
const longestLine = 256 << 20

/**
 * Yields the lines of a file, which is given in pieces; one behind the last end is a line of its own. Throws a
 * `ConfigError` once a line is too long, or a piece cannot be read.
 */
export function* byteLines(path: string, pieces: Iterable<Buffer>): Generator<ByteLine> {
  let [number, at, length] = [1, 0, 0]
  let open: Buffer[] = []
  const gather = (part: Buffer): void => {
    open.push(part)
    length += part.length
    if (length <= longestLine) return
    throw new ConfigError(
      `${path}: line ${number} is longer than ${longestLine >> 20} MiB: write a line for each object.`,
    )
  }
  const close = (): ByteLine => {
    const line = { number, at, bytes: Buffer.concat(open) }
    number += 1
    at += length + 1
    length = 0
    open = []
    return line
  }
  try {
    for (const piece of pieces) {
      let from = 0
      for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
        gather(piece.subarray(from, end))
        yield close()
        from = end + 1
      }
      gather(piece.subarray(from))
    }
  } catch (error) {
    throw ofFile(path, error)
  }
  if (length > 0) yield close()
}

const pieceBytes = 1 << 20

/** Yields the pieces of an open file. */
export function* piecesOf(file: number): Generator<Buffer> {
  for (let at = 0; ; ) {
    const piece = Buffer.allocUnsafe(pieceBytes)
    const length = readSync(file, piece, 0, pieceBytes, at)
    if (length === 0) return
    at += length
    yield piece.subarray(0, length)
  }
}
