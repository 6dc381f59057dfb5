import type { SettingFault, SettingPath } from './check-settings.ts'

/** Writes a path as in `engines[1].kind`; names with unusual characters are quoted. */
export function writePath(path: SettingPath): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${writeName(key)}`)).join('')
}

/** Writes a fault on one line, whatever its values contain: where it was set, which setting, what is wrong. */
export function writeFault({ path, reason }: SettingFault, place?: string): string {
  return oneLine([place, writePath(path), reason].filter((part) => part !== undefined && part !== '').join(': '))
}

/** Replaces line breaks, and control characters that a terminal would obey, by spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

function writeName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}
