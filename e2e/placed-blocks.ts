import type { RecordedRequest } from './recording-engine-double.ts'
import { ragRequest } from './start-test-proxy.ts'

/** A block of about 90 tokens that no other block begins like. */
export function longBlock(name: string): string {
  return `${name}: ${Array.from({ length: 45 }, (_, i) => `${name}${i}`).join(' ')}`
}

/** A request whose documents are long blocks of these names. */
export function documentRequest(question: string, names: string, rest: Record<string, unknown> = {}): object {
  return ragRequest(question, [...names].map(longBlock), rest)
}

/** The names of the long blocks in a message as it reached the engine, in the order they stood there. */
export function namesIn(content: string): string {
  return [...content.matchAll(/<document index="\d+">\n(\w): /g)].map(([, name]) => name).join('')
}

/** The names of the long blocks that reached the engine in the last message of a request. */
export function placedIn(request: RecordedRequest | undefined): string {
  return namesIn(contentsIn(request).at(-1) ?? '')
}

/** The texts of a chat request's messages as they reached the engine. */
export function contentsIn(request: RecordedRequest | undefined): string[] {
  const { messages } = JSON.parse(request!.body.toString()) as { messages: { content: string }[] }
  return messages.map(({ content }) => content)
}

/** The value of a metric with these labels; 0 where it has none. */
export async function metricOf(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}
