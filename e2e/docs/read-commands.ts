import type { Snippet } from './read-snippets.ts'

/** Returns the commands of a shell snippet without comments; a command over several lines counts as one. */
export function readCommands({ text }: Pick<Snippet, 'text'>): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    // comments are removed because they may contain an apostrophe
    const said = isQuoting(open) ? line : line.replace(/(^|\s)#(?=\s).*$/, '')
    open += open === '' ? said : `\n${said}`
    if (isQuoting(open) || /[\\|]\s*$/.test(said)) continue
    if (open.trim() !== '') commands.push(open.trim())
    open = ''
  }
  return commands
}

function isQuoting(command: string): boolean {
  return (command.replaceAll(/[^']/g, '').length & 1) === 1
}

/** Returns the program that a command runs: the last one of a pipeline, after variable assignments. */
export function programOf(command: string): string {
  const last = command
    .replaceAll(/'[^']*'/g, "''")
    .split('|')
    .at(-1)!
  return last
    .trim()
    .split(/\s+/)
    .find((word) => !/^[A-Z_]+=/.test(word) && word !== '\\')!
}
