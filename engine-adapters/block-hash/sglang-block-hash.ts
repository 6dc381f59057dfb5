import { hash } from 'node:crypto'

const bytesPerToken = 4
const digestBytes = 32
const saltTag = 'sglang-cache-salt-v1\0'

/**
 * The hashes under which SGLang (0.5.18 to 0.5.23, default event format) publishes the full pages of a prompt. Each is
 * the first 64 bits of SHA-256 over the previous page's digest and the page's tokens. Unsigned, while SGLang writes
 * them signed.
 */
export function sglangBlockHashes(tokens: ArrayLike<number>, pageSize: number, salt?: string): bigint[] {
  const page = Buffer.alloc(digestBytes + pageSize * bytesPerToken)
  // digests are binary strings: a Buffer for each takes five times as long
  let before = salt === undefined ? undefined : hash('sha256', saltTag + salt, 'binary')
  return Array.from({ length: Math.floor(tokens.length / pageSize) }, (_, place) => {
    const start = place * pageSize
    if (before !== undefined) page.write(before, 0, 'binary')
    for (let i = 0; i < pageSize; i++) page.writeUInt32LE(tokens[start + i]!, digestBytes + i * bytesPerToken)
    // the first page of a prompt without salt has no previous digest
    before = hash('sha256', before === undefined ? page.subarray(digestBytes) : page, 'binary')
    page.write(before, 0, 'binary')
    return page.readBigUInt64BE(0)
  })
}
