import { ConfigError } from '../common/errors.ts'
import {
  type CertainList,
  fromSpans,
  type SearchedText,
  shortestSearched,
  toLabels,
  toSpans,
} from '../prompt/certain-list.ts'
import { overlap, startOf } from '../prompt/context-list.ts'
import { findTurns } from '../prompt/scan/find-turns.ts'
import { cutOrRefuse, type TemplateRefusal } from './cut/cut-by-template.ts'
import { readTemplate, type TemplateText } from './cut/read-template.ts'
import type { Template } from './cut/template.ts'

/** A template of the configuration (`templates`). */
export interface DeclaredTemplate {
  readonly name: string
  readonly template: Template
}

/** A list that a template seems to have written, and that is left alone. */
export interface DeclaredRefusal {
  readonly template: string
  readonly refused: TemplateRefusal
  /** index among the texts of the body */
  readonly text: number
}

/** What the templates of the configuration find in a message. */
export interface DeclaredLists {
  readonly lists: readonly CertainList[]
  readonly refused: readonly DeclaredRefusal[]
}

/** Says what would help if a list is left alone that a template seems to have written. */
export const templateRemedies: Readonly<Record<TemplateRefusal, string>> = {
  numbers: 'let {n} count up from 0 or 1, or write {any} for what does not count',
  borders: "write longer literals in the template, such that neither documents nor the prompt's other text hold them",
  no_end: 'write in `after` what is directly behind the last block',
  too_many: 'send fewer blocks, or several requests',
}

/** Prepares the templates of the configuration. Throws a ConfigError if one cannot be used. */
export function readDeclaredTemplates(texts: readonly TemplateText[]): DeclaredTemplate[] {
  return texts.map((text, i) => {
    const template = readTemplate(text)
    if ('head' in template) return { name: text.name ?? `templates[${i}]`, template }
    throw new ConfigError(template.map(({ key, reason }) => `templates[${i}].${key}: ${reason}`).join('\n'))
  })
}

/** Finds the lists that the templates wrote, each within one text and one turn; the first template counts. */
export function findDeclaredLists(message: SearchedText, templates: readonly DeclaredTemplate[]): DeclaredLists {
  const lists: CertainList[] = []
  const refused: DeclaredRefusal[] = []
  for (const { text, start, end } of stretchesOf(message)) {
    // so short a text is not worth it, and is not recognised when it is sent again
    const own = end - start < shortestSearched ? '' : message.whole.slice(start, end)
    for (const { name, template } of templates) {
      const found = cutOrRefuse(own, template)
      if (typeof found === 'string') refused.push({ template: name, refused: found, text })
      else if (found !== undefined) {
        const inWhole = (offsets: readonly number[]): number[] => offsets.map((at) => at + start)
        const list = fromSpans(inWhole(toSpans(found)), inWhole(toLabels(found.blocks)), message.whole)
        if (list) lists.push({ ...list, certain: { ...list.certain, by: 'template', template: name } })
      }
    }
  }
  const apart = lists.filter((list, i) => !lists.slice(0, i).some((other) => overlap(other, list)))
  return { lists: apart.sort((a, b) => startOf(a) - startOf(b)), refused }
}

/** Returns the texts of a message, or the turns of a prompt that the client rendered. */
function stretchesOf({ whole, parts, isRendered }: SearchedText): SearchedText['parts'] {
  if (!isRendered) return parts
  const { text } = parts[0]!
  return (findTurns(whole) ?? []).map((turn) => ({ text, start: turn.start, end: turn.end }))
}
