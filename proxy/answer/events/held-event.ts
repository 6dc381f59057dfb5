import { applySplices, type Splice } from '../../json/json-spans.ts'
import type { JsonPath } from '../json-value.ts'
import { spliceString } from '../splice-string.ts'
import { type EventData, readEvent } from './read-event.ts'

/** An event that is sent on once all of its texts are decided. */
export class HeldEvent {
  /** As received. */
  readonly bytes: Buffer
  /** How many of its texts are undecided. */
  undecided = 0
  #data: EventData | undefined
  readonly #splices: Splice[] = []

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Its data; without it the event cannot be changed. */
  get data(): string | undefined {
    return this.#data?.data
  }

  /** Finds its data. */
  read(): void {
    this.#data = readEvent(this.bytes)
  }

  /** Changes the string at `path` in its data. */
  change(path: JsonPath, changes: readonly Splice[]): void {
    if (!this.#data || changes.length === 0) return
    for (const splice of spliceString(this.#data.data, path, changes)) this.#splices.push(this.#data.toText(splice))
  }

  /** Returns the event as it is sent: every byte outside labels is as received. */
  toBytes(): Buffer {
    if (!this.#data || this.#splices.length === 0) return this.bytes
    return Buffer.from(applySplices(this.#data.text, this.#splices))
  }
}
