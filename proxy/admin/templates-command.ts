import type { Command } from 'commander'
import { askAdmin, withAdmin } from '../config/ask-admin.ts'
import type { TemplateDescription } from '../templates/describe-template.ts'

interface Options {
  readonly admin: string
  readonly json?: boolean
}

/** Adds `reprise templates`, which shows and steers what a running proxy has learnt of prompts. */
export function addTemplatesCommand(program: Command): void {
  const templates = program.command('templates').description('the templates of prompts that a running proxy knows')
  templates.hook('preSubcommand', ({ args: [word = '-'], commands }) => {
    const names = commands.map((command) => command.name())
    if (!word.startsWith('-') && !names.includes(word))
      templates.error(`error: '${word}' is none of ${names.join(', ')}`)
  })
  const add = (name: string, description: string): Command =>
    withAdmin(templates.command(name, { isDefault: name === 'list' })).description(description)
  add('list', 'lists them: state, requests, what moving their blocks gains or would gain')
    .option('--json', 'prints what GET /v1/templates answers')
    .action(list)
  add('show', 'prints all that is known about one').argument('<id>', 'as listed').action(send('GET'))
  add('on', 'permits that its blocks are moved')
    .argument('<id>', 'as listed')
    .action(send('PUT', { state: 'on' }))
  add('off', 'forbids that its blocks are moved')
    .argument('<id>', 'as listed')
    .action(send('PUT', { state: 'off' }))
  add('forget', 'forgets its evidence and what was said of it').argument('<id>', 'as listed').action(send('DELETE'))
}

async function list({ admin, json = false }: Options): Promise<void> {
  const answer = await askAdmin<{ mode: string; templates: TemplateDescription[] }>(admin, '/v1/templates', 'GET')
  if (json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`)
    return
  }
  process.stdout.write(`mode ${answer.mode}\n`)
  if (answer.templates.length === 0) {
    process.stdout.write('No template was seen three times yet.\n')
    return
  }
  const { default: Table } = await import('cli-table3')
  const table = new Table({
    style: { head: [], border: [] },
    head: ['id', 'state', 'moves', 'requests', 'blocks', 'cached as received', 'ordered', 'model', 'begins'],
  })
  for (const one of answer.templates) {
    const { as_received, as_ordered } = one.gain
    const { model = '', lead = '', gap = '' } = (one.skeleton ?? {}) as Partial<Record<string, string>>
    const begins = one.skeleton ? JSON.stringify(lead || gap).slice(1, -1) : '(shown after 8 requests)'
    const shares = [as_received, as_ordered].map((share) => `${(100 * share).toFixed(1)} %`)
    table.push([one.id, one.state, one.moves ? 'yes' : 'no', one.requests, one.blocks, ...shares, model, begins])
  }
  process.stdout.write(`${table.toString()}\n`)
}

/** Returns what asks for one template, or changes it, and prints the answer. */
function send(method: string, body?: object): (id: string, options: Options) => Promise<void> {
  return async (id, { admin }) => {
    const path = `/v1/templates/${encodeURIComponent(id)}`
    const answer = await askAdmin(admin, path, method, body && JSON.stringify(body))
    process.stdout.write(`${JSON.stringify(answer, null, method === 'GET' ? 2 : 0)}\n`)
  }
}
