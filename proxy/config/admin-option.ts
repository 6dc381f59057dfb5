import type { Command } from 'commander'
import { argument } from '../command-arguments.ts'
import { defaultAdmin } from './ask-admin.ts'
import { readUrl } from './read-arguments.ts'

/** Adds the option that names the running proxy a command asks. */
export function withAdmin(command: Command): Command {
  return command.option(
    '--admin <url>',
    "the proxy's admin listener; its token is REPRISE_ADMIN_TOKEN",
    argument(readUrl),
    defaultAdmin,
  )
}
