import type { Acknowledgement } from '../mirror/replica-mirror.ts'

/** Where a sender posts to. */
export interface PostReceiver {
  events(body: unknown): Promise<Acknowledgement>
  snapshot(body: unknown): Promise<Acknowledgement>
}

/** What becomes of a post on its way. */
export type Delivery = 'post' | 'lost request' | 'lost answer' | 'twice' | 'late' | 'deliver'

type Event = { type: 'stored' | 'evicted'; request_id: string; cached_tokens: number } | { type: 'cleared' }

/** For tests: an engine's cache and a sender as the plugins have it, over a network that loses, repeats and delays. */
export class CallbackSenderModel {
  /** what the engine holds: the truth */
  readonly held: Map<string, number> = new Map()
  readonly #receiver: PostReceiver
  readonly #late: (() => Promise<Acknowledgement>)[] = []
  #life = 0
  #sequence = -1
  #untold: Event[] = []
  #needsSnapshot = true

  constructor(receiver: PostReceiver) {
    this.#receiver = receiver
  }

  get generation(): string {
    return `g${this.#life}`
  }

  /** From now on the engine holds so much of a request. */
  change(request_id: string, cached_tokens: number): void {
    const type = cached_tokens > (this.held.get(request_id) ?? 0) ? 'stored' : 'evicted'
    if (cached_tokens > 0) this.held.set(request_id, cached_tokens)
    else this.held.delete(request_id)
    this.#untold.push({ type, request_id, cached_tokens })
  }

  /** The engine's cache is emptied. */
  clear(): void {
    this.held.clear()
    this.#untold = [{ type: 'cleared' }]
  }

  /** The engine ends and begins anew. */
  restart(): void {
    this.#life += 1
    this.#sequence = -1
    this.held.clear()
    this.#untold = []
    this.#needsSnapshot = true
  }

  /** Posts what is due, be it nothing; an answer that does not come, or does not fit, is followed by a snapshot. */
  async post(delivery: Delivery): Promise<void> {
    if (delivery === 'deliver') {
      await this.#late.shift()?.()
      return
    }
    const send = this.#next()
    if (delivery === 'late') this.#late.push(send)
    if (delivery === 'late' || delivery === 'lost request') {
      this.#needsSnapshot = true
      return
    }
    const answer = await send()
    if (delivery === 'twice') await send()
    if (delivery === 'lost answer' || 'expected' in answer) this.#needsSnapshot = true
  }

  /** What is still on its way arrives, then all is quiet but for the sender. */
  async settle(): Promise<void> {
    while (this.#late.length > 0) await this.post('deliver')
    for (let i = 0; i < 3; i++) await this.post('post')
  }

  #next(): () => Promise<Acknowledgement> {
    this.#sequence += 1
    const head = { generation: this.generation, sequence: this.#sequence }
    if (this.#needsSnapshot) {
      this.#needsSnapshot = false
      this.#untold = []
      const requests = [...this.held].map(([request_id, cached_tokens]) => ({ request_id, cached_tokens }))
      return () => this.#receiver.snapshot({ ...head, requests })
    }
    const events = this.#untold
    this.#untold = []
    return () => this.#receiver.events({ ...head, events })
  }
}
