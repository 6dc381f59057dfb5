/** The part of JSON Schema that describes the configuration. */
export interface SettingSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly items?: SettingSchema
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  /** says in words what `pattern` requires */
  readonly $comment?: string
  readonly format?: 'file-path'
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly minLength?: number
  readonly maxLength?: number
}

/** An object that holds these settings and no others. */
export function group(description: string, properties: Record<string, SettingSchema>): SettingSchema {
  return { type: 'object', description, default: {}, additionalProperties: false, properties }
}

/** An object that needs the `required` of these settings, and holds no others. */
export function object(required: readonly string[], properties: Record<string, SettingSchema>): SettingSchema {
  return { type: 'object', additionalProperties: false, required, properties }
}

/** A list, usually empty; `isNeeded`: if there is one, it is not empty. */
export function list(description: string, items: SettingSchema, isNeeded = false): SettingSchema {
  return { type: 'array', description, items, ...(isNeeded ? { minItems: 1 } : { default: [] }) }
}

/** One of these values. */
export function oneOf(description: string, choices: readonly unknown[], standard?: unknown): SettingSchema {
  return { description, enum: choices, ...(standard === undefined ? {} : { default: standard }) }
}

export function whole(description: string, minimum: number, standard?: number): SettingSchema {
  return { type: 'integer', description, minimum, ...(standard === undefined ? {} : { default: standard }) }
}

/** The longest timer in Node, in milliseconds; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

/** A time in seconds, of 24 days at most. */
export function seconds(description: string, minimum: number, standard: number): SettingSchema {
  return { ...whole(description, minimum, standard), maximum: Math.floor(longestTimer / 1_000) }
}

/** A text that is not empty. */
export function text(description: string, standard?: string): SettingSchema {
  return { type: 'string', description, minLength: 1, ...(standard === undefined ? {} : { default: standard }) }
}

/** A text that must match `pattern`; `reason` says so in words. */
export function matching(description: string, pattern: string, reason: string, standard?: string): SettingSchema {
  return { ...text(description, standard), pattern, $comment: reason }
}

/** The path of a file; a relative one in a configuration file starts at that file's folder. */
export function file(description: string): SettingSchema {
  return { ...text(description), format: 'file-path' }
}

/** The files of a TLS client. `peer`: what it connects to. */
export function clientTls(description: string, peer: string): SettingSchema {
  const properties = {
    ca: file("File with the authorities to trust, instead of the system's."),
    cert: file(`File with the certificate to present to ${peer}; needs \`key\`.`),
    key: file('File with the private key of `cert`.'),
  }
  return { type: 'object', description, additionalProperties: false, properties }
}

/** A setting that is true or false. */
export function flag(description: string, standard: boolean): SettingSchema {
  return { type: 'boolean', description, default: standard }
}
