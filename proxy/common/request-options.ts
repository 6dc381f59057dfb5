import type { ReuseWish } from '#engine-adapters/any-position-reuse.ts'
import { ProxyError } from './errors.ts'

/** What a request may say; what it does not name stays as configured, or on. */
export interface RequestOptions {
  readonly reorder?: boolean
  readonly dedup?: boolean
  /** whether de-duplication replaces parts of blocks too; off unless switched on */
  readonly overlaps?: boolean
  readonly annotate?: boolean
  readonly schedule?: boolean
  /** whether citations in the answer are mapped back to the caller's labels */
  readonly citations?: boolean
  /** states that the order of the request's lists means nothing */
  readonly set?: boolean
  /** for engines that reuse KV at any position; if not given, the engine decides */
  readonly reuse?: ReuseWish
  /** for a vLLM that selects pages: share of its context's pages that decode steps may read */
  readonly pages?: number
  /** positions of its blocks in the order to send them, counted across its lists as `POST /v1/explain` counts them */
  readonly order?: readonly number[]
}

const onOff = ['on', 'off']
const switches = new Map([
  ['reorder', onOff],
  ['dedup', onOff],
  ['overlaps', onOff],
  ['annotate', onOff],
  ['schedule', onOff],
  ['citations', ['remap', 'keep']],
])

// options that are not switches, as the error message lists them
const others = ['set', 'reuse=off|0…1', 'pages=0…1', 'order=2.0.1']

const shares = /^(0|1|0?\.\d+|[01]\.\d+)$/

const positions = /^\d{1,4}(\.\d{1,4})*$/

/** The value of an option in JSON; in a header every value is a string. */
export type OptionValue = string | number | boolean

/**
 * Reads `x-reprise-options`, for example `reorder=off,reuse=0.3`. Throws `invalid_body` for unknown or repeated
 * options.
 */
export function readOptions(header: string | undefined): RequestOptions {
  const settings = (header ?? '').split(',').filter((setting) => setting.trim() !== '')
  return toOptions(settings.map(splitSetting))
}

/** Collects the given options. Throws `invalid_body` for an unknown option, and for one that is set twice. */
export function toOptions(settings: readonly (readonly [name: string, value: OptionValue])[]): RequestOptions {
  const options: Record<string, boolean | ReuseWish | number[]> = {}
  for (const [written, value] of settings) {
    const name = written.trim().toLowerCase()
    const read = readOption(name, plainValue(value))
    if (read === undefined) throw unknownOption(`${written.trim()}=${value}`)
    if (Object.hasOwn(options, name)) throw repeatedOption(name)
    options[name] = read
  }
  return options
}

/** Splits at the first `=`: the value may contain more of them. */
function splitSetting(setting: string): [name: string, value: string] {
  const end = setting.indexOf('=')
  return end === -1 ? [setting, ''] : [setting.slice(0, end), setting.slice(end + 1).trim()]
}

function plainValue(value: OptionValue): string | number {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'string' ? value.trim().toLowerCase() : value
}

function readOption(name: string, value: string | number): boolean | ReuseWish | number[] | undefined {
  if (name === 'pages') return readShare(value)
  if (name === 'order') return readOrder(String(value))
  if (name === 'set') return value === '' || readOnOff(value)
  return name === 'reuse' ? readReuse(value) : readSwitch(name, value)
}

function readOnOff(value: string | number): boolean | undefined {
  return value === 'on' ? true : value === 'off' ? false : undefined
}

function readSwitch(name: string, value: string | number): boolean | undefined {
  const values = switches.get(name)
  return values?.some((one) => one === value) ? value === values[0] : undefined
}

function readReuse(value: string | number): ReuseWish | undefined {
  return value === 'off' ? value : readShare(value)
}

function readShare(value: string | number): number | undefined {
  if (typeof value === 'string' && !shares.test(value)) return undefined
  const share = Number(value)
  return share >= 0 && share <= 1 ? share : undefined
}

function readOrder(value: string): number[] | undefined {
  return positions.test(value) ? value.split('.').map(Number) : undefined
}

function repeatedOption(name: string): ProxyError {
  return new ProxyError('invalid_body', `'${name}' is given twice in the options of reprise: give it once.`)
}

function unknownOption(setting: string): ProxyError {
  const known = [...switches].map(([name, choices]) => `${name}=${choices.join('|')}`)
  const list = [...known, ...others].join(', ')
  return new ProxyError('invalid_body', `'${setting}' is not an option of reprise; known are ${list}.`)
}

/** Reads `x-reprise-priority`, a whole number; lower is sooner. Throws `invalid_body` for anything else. */
export function readPriority(header: string | undefined): number {
  const priority = Number(header ?? 0)
  if (Number.isSafeInteger(priority) && header?.trim() !== '') return priority
  throw new ProxyError(
    'invalid_body',
    `x-reprise-priority is '${header}': it has to be a whole number of at most 15 digits, as in 5 or -1.`,
  )
}
