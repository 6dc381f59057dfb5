/** Bodies of up to this many chunks are kept as they come. */
const mostApart = 64
/** Smaller chunks than this are packed: each buffer takes some hundred bytes of its own. */
const smallBytes = 16 * 1024
const packBytes = 64 * 1024

/** Keeps the chunks of a body in order, in memory that grows with their bytes and not with their number. */
export class BodyPieces {
  #pieces: Buffer[] = []
  /** the last piece, if more fits into it */
  #pack: Buffer | undefined
  #packed = 0

  /** Keeps a chunk. One that is small is copied, if there are many. */
  push(chunk: Buffer): void {
    if (this.#pieces.length < mostApart || chunk.length >= smallBytes) {
      this.#closePack()
      this.#pieces.push(chunk)
      return
    }
    if (this.#pack && this.#packed + chunk.length > packBytes) this.#closePack()
    if (!this.#pack) {
      this.#pack = Buffer.allocUnsafeSlow(packBytes)
      this.#pieces.push(this.#pack)
    }
    this.#packed += chunk.copy(this.#pack, this.#packed)
  }

  /** Returns all pieces, and keeps them no longer. */
  take(): Buffer[] {
    this.#closePack()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #closePack(): void {
    if (!this.#pack) return
    this.#pieces[this.#pieces.length - 1] = this.#pack.subarray(0, this.#packed)
    this.#pack = undefined
    this.#packed = 0
  }
}
