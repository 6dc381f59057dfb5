import { readSync } from 'node:fs'

/** A line of a file, without its end. */
interface ByteLine {
  /** from 1 */
  readonly number: number
  /** where it begins in the file, in bytes */
  readonly at: number
  readonly bytes: Buffer
}

/** Yields the lines of a file, which is given in pieces; one behind the last end is a line of its own. */
export function* byteLines(pieces: Iterable<Buffer>): Generator<ByteLine> {
  let [number, at] = [1, 0]
  let open: Buffer[] = []
  const close = (end: Buffer): ByteLine => {
    const line = { number, at, bytes: Buffer.concat([...open, end]) }
    at += line.bytes.length + 1
    number += 1
    open = []
    return line
  }
  for (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      yield close(piece.subarray(from, end))
      from = end + 1
    }
    open.push(piece.subarray(from))
  }
  const last = close(Buffer.alloc(0))
  if (last.bytes.length > 0) yield last
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
