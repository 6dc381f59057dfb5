import type { Snippet } from './read-snippets.ts'

/** The commands of a shell snippet, without comments; one that goes over several lines is one. */
export function readCommands({ text }: Pick<Snippet, 'text'>): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    // a comment may hold an apostrophe
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

/** The program that a command runs: of a pipeline the last one, behind what is set for it. */
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
