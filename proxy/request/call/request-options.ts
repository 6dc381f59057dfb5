import type { ReuseWish } from '#engine-adapters/any-position-reuse.ts'
import { ProxyError } from '../../errors.ts'

/** What a request may switch off; what it does not name is as configured. */
export interface RequestSwitches {
  readonly reorder?: boolean
  readonly dedup?: boolean
  readonly annotate?: boolean
  readonly schedule?: boolean
  /** whether citations in the answer are mapped back to the caller's labels */
  readonly citations?: boolean
}

/** What a request may ask for. */
export interface RequestOptions extends RequestSwitches {
  /** of an engine that reuses KV at any position; what is not named is the engine's to say */
  readonly reuse?: ReuseWish
  /** share of its context's pages that decode steps may read, of a vLLM that selects pages */
  readonly pages?: number
}

const onOff = ['on', 'off']
const switches = new Map([
  ['reorder', onOff],
  ['dedup', onOff],
  ['annotate', onOff],
  ['schedule', onOff],
  ['citations', ['remap', 'keep']],
])

// options that are not switches, as the list of the known ones tells them
const others = ['reuse=off|0…1', 'pages=0…1']

const shares = /^(0|1|0?\.\d+|[01]\.\d+)$/

/** Reads `x-reprise-options`, as in `reorder=off,reuse=0.3`; throws `invalid_body` for what it does not know. */
export function readOptions(header: string | undefined): RequestOptions {
  const options: Record<string, boolean | ReuseWish> = {}
  for (const setting of (header ?? '').split(',')) {
    if (setting.trim() === '') continue
    const [name = '', value = ''] = setting.split('=').map((word) => word.trim().toLowerCase())
    const read = readOption(name, value)
    if (read === undefined) throw unknownOption(setting.trim())
    options[name] = read
  }
  return options
}

function readOption(name: string, value: string): boolean | ReuseWish | undefined {
  if (name === 'pages') return readShare(value)
  return name === 'reuse' ? readReuse(value) : readSwitch(name, value)
}

function readSwitch(name: string, value: string): boolean | undefined {
  const values = switches.get(name)
  return values?.includes(value) ? value === values[0] : undefined
}

function readReuse(value: string): ReuseWish | undefined {
  return value === 'off' ? value : readShare(value)
}

function readShare(value: string): number | undefined {
  return shares.test(value) && Number(value) <= 1 ? Number(value) : undefined
}

function unknownOption(setting: string): ProxyError {
  const known = [...switches].map(([name, choices]) => `${name}=${choices.join('|')}`)
  const list = [...known, ...others].join(', ')
  return new ProxyError('invalid_body', `'${setting}' is not an option of reprise; known are ${list}.`)
}

/** Reads `x-reprise-priority`, a whole number, lower is sooner; throws `invalid_body` for anything else. */
export function readPriority(header: string | undefined): number {
  const priority = Number(header ?? 0)
  if (Number.isSafeInteger(priority) && header?.trim() !== '') return priority
  throw new ProxyError('invalid_body', `x-reprise-priority is '${header}': it has to be a whole number, as in 5 or -1.`)
}
