import { ProxyError } from '../errors.ts'

/** Parses a request body. Throws `invalid_body` if it is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new ProxyError('invalid_body', `The request body is not valid JSON: ${(cause as Error).message}`, { cause })
  }
}
