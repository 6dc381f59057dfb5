import type { Task } from './tasks.ts'

/** How a prompt is changed: the order of its texts, or one more blank line behind them. */
export type Variant = 'received' | 'reversed' | 'rotated' | 'blank line'

export const variants = ['received', 'reversed', 'rotated', 'blank line'] as const

/** The places, counted from 0, from which a variant takes its texts. */
function orderOf(variant: Variant, count: number): number[] {
  const places = Array.from({ length: count }, (_, i) => i)
  if (variant === 'reversed') return places.toReversed()
  if (variant === 'rotated') return [...places.slice(Math.ceil(count / 2)), ...places.slice(0, Math.ceil(count / 2))]
  return places
}

export function renderPrompt(task: Task, texts: readonly string[], question: string, variant: Variant): string {
  const listed = orderOf(variant, texts.length).map((from, place) => task.label(place + 1) + texts[from])
  const end = variant === 'blank line' ? '\n\n\n' : '\n\n'
  return `${listed.join('\n\n')}${end}${task.instruction(question)}`
}

/** The answer with the numbers that the texts have in a variant, where texts are numbered. */
export function mapAnswer(task: Task, answer: string, count: number, variant: Variant): string {
  if (task.label(1) === '') return answer
  const order = orderOf(variant, count)
  const toPlace = (number: string): string => {
    const place = order.indexOf(Number(number) - 1)
    return place < 0 ? number : String(place + 1)
  }
  return answer.replaceAll(/(?<=\[|[Dd]ocument )(\d+)\b/g, toPlace)
}
