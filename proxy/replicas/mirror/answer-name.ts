import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RequestId } from '#index/context-block.ts'

/** The id is at the start of an answer, and of a stream's first event. */
const headBytes = 2048
const member = /"(?:type|object|sequence_number)": *(?:"[\w.]+"|\d+), */
const answerId = new RegExp(
  `^(?:event:[^\\n]*\\n)?(?:data: *)?\\{(?:${member.source})*(?:"response": *\\{)?"id": *"([\\w-]{1,200})"`,
)

/** Finds out, from the start of an engine's answer, whether the engine's reports use another id than ours. */
export class AnswerName {
  readonly #adapter: Pick<EngineAdapter, 'reportedName'>
  readonly #api: PromptApi
  readonly #onName: (request: RequestId, name: RequestId) => void
  /** undefined: nothing left to find out */
  #request: RequestId | undefined
  #head = ''

  /** `onName`: called with the engine's id for `request`, if it is another. */
  constructor(
    adapter: Pick<EngineAdapter, 'reportedName'>,
    api: PromptApi,
    request: RequestId | undefined,
    onName: (request: RequestId, name: RequestId) => void,
  ) {
    this.#adapter = adapter
    this.#api = api
    this.#request = adapter.reportedName(api, '') === undefined ? undefined : request
    this.#onName = onName
  }

  /** The next bytes of the answer. */
  onChunk(chunk: Buffer): void {
    if (this.#request === undefined) return
    this.#head += chunk.toString('latin1', 0, headBytes)
    const id = answerId.exec(this.#head)?.[1]
    if (id === undefined && this.#head.length < headBytes) return
    const name = id === undefined ? undefined : this.#adapter.reportedName(this.#api, id)
    if (name !== undefined && name !== this.#request) this.#onName(this.#request, name)
    this.#request = undefined
  }
}
