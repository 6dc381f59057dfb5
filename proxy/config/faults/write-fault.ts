import type { SettingFault, SettingPath } from './check-settings.ts'

/** Writes a path as in `engines[1].kind`; names that are no names stand in quotes. */
export function writePath(path: SettingPath): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${writeName(key)}`)).join('')
}

/** Writes a fault in one line, whatever the values in it hold: where it was set, which setting, what is wrong. */
export function writeFault({ path, reason }: SettingFault, place?: string): string {
  return oneLine([place, writePath(path), reason].filter((part) => part !== undefined && part !== '').join(': '))
}

/** A text without line breaks and without what a terminal would obey. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

function writeName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}
