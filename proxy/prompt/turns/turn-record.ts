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
const hint = { type: 'object', additionalProperties: false, properties: { begins: words, ends: words } }
const order = {
  type: 'object',
  required: ['order', 'pointers'],
  additionalProperties: false,
  properties: {
    order: { type: 'array', maxItems: 1 << 16, items: index },
    annotation: words,
    pointers: {
      type: 'array',
      maxItems: 1 << 16,
      items: {
        type: 'object',
        required: ['place', 'start', 'end', 'text', 'target', 'label', 'hint'],
        additionalProperties: false,
        properties: { place: index, start: index, end: index, text: words, target: words, label: words, hint },
      },
    },
  },
}
const positions = { type: 'array', maxItems: 1 << 12, items: { type: 'array', maxItems: 1 << 16, items: index } }
const ajv = new Ajv(ownSchemas)
const schema: SchemaObject = {
  type: 'object',
  required: ['turn', 'sent'],
  additionalProperties: false,
  properties: {
    turn: { type: 'string' },
    sent: {
      type: 'object',
      required: ['kind'],
      oneOf: [
        { additionalProperties: false, properties: { kind: { const: 'ambiguous' } } },
        {
          required: ['contexts'],
          additionalProperties: false,
          properties: {
            kind: { const: 'ordered' },
            contexts: { type: 'array', maxItems: 1 << 12, items: order },
            spans: positions,
            labels: positions,
          },
        },
        {
          required: ['blocks', 'context'],
          additionalProperties: false,
          properties: {
            kind: { const: 'explicit' },
            blocks: { type: 'array', maxItems: 1 << 16, items: { type: 'string' } },
            context: order,
          },
        },
      ],
    },
  },
}

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
  return ordersOf(record.sent).every(isSound) ? withAbsent(record.sent) : undefined
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

/** Restores undefined members, which JSON omits. */
function withAbsent(sent: SentTurn): SentTurn {
  const restore = ({ order, annotation, pointers }: SentOrder): SentOrder => ({
    order,
    annotation,
    pointers: pointers.map((pointer) => ({
      ...pointer,
      hint: { begins: pointer.hint.begins, ends: pointer.hint.ends },
    })),
  })
  if (sent.kind === 'ordered') {
    const contexts = sent.contexts.map(restore)
    const { spans, labels } = sent
    return { kind: 'ordered', contexts, ...(spans && { spans }), ...(labels && { labels }) }
  }
  return sent.kind === 'explicit' ? { ...sent, context: restore(sent.context) } : sent
}
