/*
 * Logs that proxies write in turns: the id of an entry is the very next after the last one that its writer has read, so
 * Redis refuses it if another proxy was faster. The first part of all ids of a log is when it was begun, which tells it
 * from one that was lost.
 */

/** The id before that of every entry. */
export const beginning = '0-0'

/** Returns the id for the entry behind `id`. `now`: milliseconds since 1970. */
export function idBehind(id: string, now: number): string {
  const [begun, number] = partsOf(id)
  return id === beginning ? `${now}-1` : `${begun}-${number + 1}`
}

/** Returns the id before `id`. */
export function idBefore(id: string): string {
  const [begun, number] = partsOf(id)
  return `${begun}-${number - 1}`
}

/** Whether two entries are of one log. */
export function areOfOneLog(one: string, other: string): boolean {
  return partsOf(one)[0] === partsOf(other)[0]
}

/** Whether another id can follow: larger numbers lose digits. */
export function canFollow(id: string): boolean {
  return partsOf(id).every((part) => part < Number.MAX_SAFE_INTEGER)
}

function partsOf(id: string): [begun: number, number: number] {
  return id.split('-').map(Number) as [number, number]
}
