import type { UnknownText } from './seen-lists.ts'
import { toPlace } from './text-keys.ts'

/** Where these prompts stand. */
export const place: string = toPlace({ tenant: 'one', api: 'chat', role: 'user', tool: '' }, false)

export function toUnknown(text: string): UnknownText {
  return { text, model: '', system: '', asked: undefined }
}

/** Prompts over the same few documents, as an application sends them. */
export function promptsOf(
  count: number,
  render: (documents: readonly string[], question: string) => string,
  { documents = 40, listed = 8, seed = 1 }: { documents?: number; listed?: number; seed?: number } = {},
): { documents: string[]; question: string; text: string }[] {
  let state = seed
  const draw = (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % end
  }
  const word = (): string => Array.from({ length: 2 + draw(3) }, () => syllables[draw(syllables.length)]).join('')
  const sentence = (): string => `${Array.from({ length: 6 + draw(6) }, word).join(' ')}${['.', '!', '', '?'][draw(4)]}`
  const all = Array.from({ length: documents }, () => Array.from({ length: 2 + draw(3) }, sentence).join('\n'))
  return Array.from({ length: count }, () => {
    const own = new Set<string>()
    while (own.size < listed) own.add(all[draw(documents)]!)
    const question = `${sentence()} ${draw(1_000)}?`
    return { documents: [...own], question, text: render([...own], question) }
  })
}

const syllables = ['ka', 'ro', 'mi', 'ten', 'sul', 'va', 'pe', 'dor', 'lin', 'gus', 'ha', 'bri', 'no', 'xe', 'wy']
