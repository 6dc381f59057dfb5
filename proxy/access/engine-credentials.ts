const credentialHeaders = new Set(['authorization', 'x-api-key'])

/** Returns those of some headers by which an engine authorises a client; names and values alternating. */
export function credentialsOf(headers: readonly string[]): string[] {
  return headers.filter((_, i) => credentialHeaders.has(headers[i - (i % 2)]!.toLowerCase()))
}

/**
 * The client's headers, names and values alternating, with the credentials that the engine should see: its own key, or
 * else the client's, unless that is meant for us and must not be passed on.
 */
export function withEngineCredentials(
  rawHeaders: readonly string[],
  { keepsClientKey }: { readonly keepsClientKey: boolean },
  { apiKey }: { readonly apiKey: string | undefined },
): readonly string[] {
  if (!keepsClientKey && apiKey === undefined) return rawHeaders
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!credentialHeaders.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  if (apiKey !== undefined) headers.push('authorization', `Bearer ${apiKey}`)
  return headers
}
