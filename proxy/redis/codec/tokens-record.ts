import type { PromptTokens } from '#index/mirror/token-mirror.ts'

const version = 1
const headBytes = 3
const bytesPerToken = 4
/** More than any model's context. */
const maxTokens = 1 << 22

/** Encodes tokens: version, length of the scope, scope, 4 bytes per token. Returns undefined if it is too long. */
export function writeTokens({ tokens, scope }: PromptTokens): Buffer | undefined {
  const name = Buffer.from(scope)
  if (tokens.length > maxTokens || name.length > 0xffff) return undefined
  const bytes = Buffer.alloc(headBytes + name.length + tokens.length * bytesPerToken)
  bytes.writeUInt8(version, 0)
  bytes.writeUInt16BE(name.length, 1)
  name.copy(bytes, headBytes)
  const start = headBytes + name.length
  for (let i = 0; i < tokens.length; i++) bytes.writeUInt32BE(tokens[i]!, start + i * bytesPerToken)
  return bytes
}

/** Decodes tokens. Returns undefined if the record is invalid. */
export function readTokensRecord(bytes: unknown): PromptTokens | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length < headBytes || bytes[0] !== version) return undefined
  const start = headBytes + bytes.readUInt16BE(1)
  const count = (bytes.length - start) / bytesPerToken
  if (!Number.isInteger(count) || count < 1 || count > maxTokens) return undefined
  const tokens = Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32BE(start + i * bytesPerToken))
  return { tokens, scope: bytes.toString('utf8', headBytes, start) }
}
