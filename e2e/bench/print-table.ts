import Table from 'cli-table3'

const markdown = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '|',
  right: '|',
  middle: '|',
  mid: '',
  'left-mid': '',
  'mid-mid': '',
  'right-mid': '',
}

/** What a benchmark found, on stdout. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** How far a benchmark is, on stderr. */
export function report(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A title and a table in Markdown, as docs/benchmarks.md holds them. */
export function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({ chars: markdown, style: { head: [], border: [] } })
  table.push(
    [...head],
    head.map(() => '---'),
    ...rows.map((row) => [...row]),
  )
  say(`${title}:\n\n${table.toString()}\n`)
}
