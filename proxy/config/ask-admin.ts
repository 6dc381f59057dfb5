import type { Command } from 'commander'
import { tryObject } from '#engine-adapters/json-object.ts'
import { ConfigError, statusOf } from '../common/errors.ts'
import { toObject } from '../common/json/json-value.ts'
import { argument, readUrl } from './read-arguments.ts'
import { readSmallFile } from './sources/read-settings-file.ts'

/** Where a proxy's admin listener is, if nothing else is configured. */
const defaultAdmin = 'http://127.0.0.1:9090'

/** Adds the option that names the running proxy a command asks. */
export function withAdmin(command: Command): Command {
  return command.option(
    '--admin <url>',
    "the proxy's admin listener; its token is REPRISE_ADMIN_TOKEN",
    argument(readUrl),
    defaultAdmin,
  )
}

/**
 * Returns the admin token of the environment: REPRISE_ADMIN_TOKEN, or what is in the file REPRISE_ADMIN_TOKEN_FILE.
 * Throws a ConfigError if that cannot be read.
 */
export function readAdminToken(): string | undefined {
  const { REPRISE_ADMIN_TOKEN: token, REPRISE_ADMIN_TOKEN_FILE: file } = process.env
  const text = token || (file ? readSmallFile('REPRISE_ADMIN_TOKEN_FILE', file).toString() : undefined)
  return text?.trim() || undefined
}

/** Says why a fetch got no answer: the system's own words, if it has any. */
export function whyUnreached(error: Error): string {
  return (error.cause as Error | undefined)?.message || error.message
}

/**
 * Asks the control plane of a running proxy, with the token of REPRISE_ADMIN_TOKEN. Throws a ConfigError that says what
 * to do if it does not answer, refuses, or is something else.
 */
export async function askAdmin<Answer>(
  admin: string,
  path: string,
  method: string,
  body?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const token = readAdminToken()
  const url = `${admin.replace(/\/+$/, '')}${path}`
  const asked = fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...more },
    ...(body === undefined ? {} : { body }),
  })
  const read = asked.then(async (response) => ({ response, answer: tryObject(await response.text()) }))
  const { response, answer } = await read.catch((error: Error) => {
    throw new ConfigError(
      `${url} does not answer (${whyUnreached(error)}): is the proxy running, and is this its admin listener?`,
    )
  })
  if (answer && response.ok) return answer as Answer
  const { code, message } = toObject(answer?.error)
  // an engine's errors have this shape, too, but other codes
  if (typeof code === 'string' && code in statusOf) throw new ConfigError(String(message))
  throw new ConfigError(
    `${url} answers ${response.status}, and is no admin listener of reprise: give what 'reprise serve' prints as admin_url.`,
  )
}
