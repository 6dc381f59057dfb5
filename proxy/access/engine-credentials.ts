/** How to treat the headers with which a client authenticated itself. */
interface EngineCredentials {
  /** whether they are meant for us and must not be passed on */
  readonly keepsClientKey: boolean
  /** the engine's own key */
  readonly apiKey: string | undefined
}

const credentialHeaders = new Set(['authorization', 'x-api-key'])

/** Returns those of some headers by which an engine authorises a client; names and values alternating. */
export function credentialsOf(headers: readonly string[]): string[] {
  return headers.filter((_, i) => credentialHeaders.has(headers[i - (i % 2)]!.toLowerCase()))
}

/** The client's headers, names and values alternating, with the credentials that the engine should see. */
export function withEngineCredentials(
  rawHeaders: readonly string[],
  { keepsClientKey, apiKey }: EngineCredentials,
): readonly string[] {
  if (!keepsClientKey && apiKey === undefined) return rawHeaders
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!credentialHeaders.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  if (apiKey !== undefined) headers.push('authorization', `Bearer ${apiKey}`)
  return headers
}
