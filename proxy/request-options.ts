import { ProxyError } from './errors.ts'

/** What a request may switch off; what it does not name is as configured. */
export interface RequestOptions {
  readonly reorder?: boolean
  readonly dedup?: boolean
  readonly annotate?: boolean
  readonly schedule?: boolean
  /** whether citations in the answer are mapped back to the caller's labels */
  readonly citations?: boolean
}

const onOff = ['on', 'off']
const switches = new Map([
  ['reorder', onOff],
  ['dedup', onOff],
  ['annotate', onOff],
  ['schedule', onOff],
  ['citations', ['remap', 'keep']],
])

/** Reads `x-reprise-options`, as in `reorder=off,annotate=off`; throws `invalid_body` for what it does not know. */
export function readOptions(header: string | undefined): RequestOptions {
  const options: Record<string, boolean> = {}
  for (const setting of (header ?? '').split(',')) {
    if (setting.trim() === '') continue
    const [name = '', value = ''] = setting.split('=').map((word) => word.trim().toLowerCase())
    const values = switches.get(name)
    if (!values?.includes(value)) {
      const known = [...switches].map(([key, choices]) => `${key}=${choices.join('|')}`).join(', ')
      throw new ProxyError('invalid_body', `'${setting.trim()}' is not an option of reprise; known are ${known}.`)
    }
    options[name] = value === values[0]
  }
  return options
}

/** Reads `x-reprise-priority`, a whole number, lower is sooner; throws `invalid_body` for anything else. */
export function readPriority(header: string | undefined): number {
  const priority = Number(header ?? 0)
  if (Number.isSafeInteger(priority) && header?.trim() !== '') return priority
  throw new ProxyError('invalid_body', `x-reprise-priority is '${header}': it has to be a whole number, as in 5 or -1.`)
}
