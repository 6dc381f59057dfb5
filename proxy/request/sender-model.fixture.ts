import type { Acknowledgement } from '../replicas/mirror/replica-mirror.ts'

/** The receiver of a sender's posts. */
interface PostReceiver {
  events(body: unknown): Promise<Acknowledgement>
  snapshot(body: unknown): Promise<Acknowledgement>
}

/** What happens to a post on its way. */
export type Delivery = 'post' | 'lost request' | 'lost answer' | 'twice' | 'late' | 'deliver'

type Event = { type: 'stored' | 'evicted'; request_id: string; cached_tokens: number } | { type: 'cleared' }

/**
 * For tests: an engine's cache and a sender like that of the plugins, over a network that loses, repeats and delays
 * posts.
 */
export class CallbackSenderModel {
  /** what the engine really holds */
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

  /** Sets how many tokens of a request the engine holds. */
  change(request_id: string, cached_tokens: number): void {
    const type = cached_tokens > (this.held.get(request_id) ?? 0) ? 'stored' : 'evicted'
    if (cached_tokens > 0) this.held.set(request_id, cached_tokens)
    else this.held.delete(request_id)
    this.#untold.push({ type, request_id, cached_tokens })
  }

  /** Empties the engine's cache. */
  clear(): void {
    this.held.clear()
    this.#untold = [{ type: 'cleared' }]
  }

  /** Restarts the engine. */
  restart(): void {
    this.#life += 1
    this.#sequence = -1
    this.held.clear()
    this.#untold = []
    this.#needsSnapshot = true
  }

  /** Posts what is due, even if that is nothing. If the answer is lost or does not fit, a snapshot follows. */
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

  /** Delivers what is still on its way, then lets the sender post undisturbed. */
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
