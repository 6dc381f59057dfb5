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

/** Prints a result to stdout. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints progress to stderr. */
export function report(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Prints a title and a Markdown table, in the format of docs/benchmarks.md. */
export function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({ chars: markdown, style: { head: [], border: [] } })
  table.push(
    [...head],
    head.map(() => '---'),
    ...rows.map((row) => [...row]),
  )
  say(`${title}:\n\n${table.toString()}\n`)
}
