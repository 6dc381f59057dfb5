import { ProxyError } from '../errors.ts'

/** The value of a request body; throws `invalid_body` when it is no JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new ProxyError('invalid_body', `The request body is not valid JSON: ${(cause as Error).message}`, { cause })
  }
}
