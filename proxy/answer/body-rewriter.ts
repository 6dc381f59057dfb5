import { isUtf8 } from 'node:buffer'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { GatheredBytes } from '../common/gathered-bytes.ts'
import { applySplices } from '../common/json/json-spans.ts'
import { CitationMapper } from './citations/map-citations.ts'
import { findAnswerTexts } from './find-answer-texts.ts'
import type { PromptLabels } from './prompt-labels.ts'
import { spliceString } from './splice-string.ts'

const defaultLongestBody = 16 * 1024 * 1024

/** Maps the citations in an answer that is one JSON document, once it is complete. */
export class BodyRewriter {
  readonly #api: PromptApi
  readonly #labels: PromptLabels
  readonly #longestBody: number
  readonly #gathered = new GatheredBytes()
  remapped = 0
  overflowed = false
  fault: unknown

  constructor(api: PromptApi, labels: PromptLabels, longestBody: number = defaultLongestBody) {
    this.#api = api
    this.#labels = labels
    this.#longestBody = longestBody
  }

  push(chunk: Buffer): Buffer {
    if (this.overflowed) return chunk
    this.#gathered.add(chunk)
    if (this.#gathered.length <= this.#longestBody) return Buffer.alloc(0)
    this.overflowed = true
    return this.#gathered.take()
  }

  end(): Buffer {
    const body = this.#gathered.take()
    try {
      return this.#rewrite(body)
    } catch (fault) {
      this.fault = fault
      return body
    }
  }

  #rewrite(body: Buffer): Buffer {
    if (!isUtf8(body)) return body
    const json = body.toString()
    let remapped = 0
    const splices = findAnswerTexts(this.#api, tryJson(json)).texts.flatMap(({ path, text, choice }) => {
      const labels = this.#labels.of(choice)
      if (!labels) return []
      const { changes } = new CitationMapper(labels).advance(text, true)
      remapped += changes.length
      return changes.length > 0 ? spliceString(json, path, changes) : []
    })
    const rewritten = splices.length > 0 ? Buffer.from(applySplices(json, splices)) : body
    this.remapped = remapped
    return rewritten
  }
}
