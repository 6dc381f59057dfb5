import { Ajv, type SchemaObject } from 'ajv'
import { tryJson } from '#engine-adapters/json-object.ts'
import { digestOf } from '#index/context-block.ts'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { ownSchemas } from '../../common/json/json-value.ts'

/** A turn as stored for other proxies. */
interface TurnRecord {
  /** equal for records of the same turn; different if the explicit blocks differ */
  readonly kind: string
  /** unique start of this record */
  readonly head: string
  readonly text: string
}

/** Longer records are neither shared nor read. */
export const maxRecordCharacters: number = 1 << 20

const index = { type: 'integer', minimum: 0, maximum: 2 ** 31 }
const words = { type: 'string', maxLength: 1 << 16 }
const listOf = (items: SchemaObject, maxItems = 1 << 16): SchemaObject => ({ type: 'array', maxItems, items })
const object = (required: Record<string, SchemaObject>, optional: Record<string, SchemaObject> = {}): SchemaObject => ({
  type: 'object',
  required: Object.keys(required),
  additionalProperties: false,
  properties: { ...required, ...optional },
})
const hint = object({}, { begins: words, ends: words })
const pointer = object({ place: index, start: index, end: index, text: words, target: words, label: words, hint })
const order = object({ order: listOf(index), pointers: listOf(pointer) }, { annotation: words })
const positions = listOf(listOf(index), 1 << 12)
const ajv = new Ajv(ownSchemas)
const schema = object({
  turn: { type: 'string' },
  sent: {
    oneOf: [
      object({ kind: { const: 'ambiguous' } }),
      object({ kind: { const: 'ordered' }, contexts: listOf(order, 1 << 12) }, { spans: positions, labels: positions }),
      object({ kind: { const: 'explicit' }, blocks: listOf({ type: 'string' }), context: order }),
    ],
  },
})

/** Encodes a turn. `nonce` must never be reused. Returns undefined if the turn is too long to be shared. */
export function toTurnRecord(turn: TurnKey, sent: SentTurn, nonce: string): TurnRecord | undefined {
  const json = JSON.stringify({ turn, sent })
  if (json.length > maxRecordCharacters) return undefined
  const kind = kindOf(sent)
  const head = `${kind} ${nonce}\n`
  return { kind, head, text: head + json }
}

/** Decodes the record of a turn. Returns undefined if it is invalid. */
export function readTurnRecord(turn: TurnKey, text: string): SentTurn | undefined {
  const end = text.indexOf('\n')
  if (end < 0 || text.length > maxRecordCharacters + end + 1) return undefined
  const record = tryJson(text.slice(end + 1))
  // rejects a record copied from another turn, perhaps of another tenant
  if (!ajv.validate<{ turn: TurnKey; sent: SentTurn }>(schema, record) || record.turn !== turn) return undefined
  return ordersOf(record.sent).every(isSound) ? record.sent : undefined
}

/** Returns the words with which a turn's record starts. */
function kindOf(sent: SentTurn): string {
  if (sent.kind !== 'explicit') return sent.kind
  return `explicit:${digestOf(JSON.stringify(sent.blocks.toSorted()))}`
}

function ordersOf(sent: SentTurn): readonly SentOrder[] {
  if (sent.kind === 'ordered') return sent.contexts
  return sent.kind === 'explicit' ? [sent.context] : []
}

function isSound({ order, pointers }: SentOrder): boolean {
  return (
    new Set(order).size === order.length &&
    order.every((place) => place < order.length) &&
    pointers.every(({ place, start, end }) => place < order.length && start < end)
  )
}
