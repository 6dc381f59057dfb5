import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addCompareCommand } from './command.ts'
import { passNames } from './passes.ts'

test('the help says in a line each what the passes do', () => {
  const program = new Command()
  addCompareCommand(program)
  let help = ''
  const [compare] = program.commands
  compare!.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  for (const name of passNames) expect(help).toMatch(new RegExp(`^  ${name} +\\S.*\\S$`, 'm'))
})
