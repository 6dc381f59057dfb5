import type { RecordedRequest } from './recording-engine-double.ts'
import { ragRequest } from './start-test-proxy.ts'

/** Returns a block of about 90 tokens that begins like no other block. */
export function longBlock(name: string): string {
  return `${name}: ${Array.from({ length: 45 }, (_, i) => `${name}${i}`).join(' ')}`
}

/** Returns a request whose documents are the named long blocks. */
export function documentRequest(question: string, names: string, rest: Record<string, unknown> = {}): object {
  return ragRequest(question, [...names].map(longBlock), rest)
}

/** Returns the names of the long blocks in a message that reached the engine, in their order there. */
export function namesIn(content: string): string {
  return [...content.matchAll(/<document index="\d+">\n(\w): /g)].map(([, name]) => name).join('')
}

/** Returns the names of the long blocks in the last message of a request that reached the engine. */
export function placedIn(request: RecordedRequest | undefined): string {
  return namesIn(contentsIn(request).at(-1) ?? '')
}

/** Returns the texts of a chat request's messages as they reached the engine. */
export function contentsIn(request: RecordedRequest | undefined): string[] {
  const { messages } = JSON.parse(request!.body.toString()) as { messages: { content: string }[] }
  return messages.map(({ content }) => content)
}

/** Returns the value of a metric, named with its labels; 0 if it is absent. */
export async function metricOf(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}
