import { pack } from 'msgpackr'
import { EventPublisherDouble } from '#engine-adapters/kv-events/publisher-double.fixture.ts'

/*
 * Publishes the cache events of a full engine, in a separate process: each batch stores 32 blocks of 16 tokens, in vLLM
 * 0.32's format, and removes the 32 oldest. Begins once a replay is requested.
 */

const [batches, lostEvery] = process.argv.slice(2).map(Number)
const blocksPerBatch = 32
const keptBatches = 512
const blockTokens = 16

function hashesOf(batch: number): bigint[] {
  return Array.from({ length: blocksPerBatch }, (_, i) => 2n ** 62n + BigInt(batch * blocksPerBatch + i))
}

function payloadOf(batch: number): Buffer {
  const token_ids = Array.from({ length: blocksPerBatch * blockTokens }, (_, i) => (batch * 31 + i * 7) % 100_000)
  const extra = { medium: 'GPU', lora_id: null, lora_name: null, extra_keys: null, group_idx: 0 }
  const parent = { parent_block_hash: null, token_ids, block_size: blockTokens, ...extra }
  const events: unknown[] = [{ type: 'BlockStored', block_hashes: hashesOf(batch), ...parent }]
  const gone = batch - keptBatches
  if (gone >= 0) events.push({ type: 'BlockRemoved', block_hashes: hashesOf(gone), medium: 'GPU', group_idx: 0 })
  return pack([batch, events, 0])
}

const publisher = await new EventPublisherDouble().start()
const payloads = Array.from({ length: batches! }, (_, batch) => payloadOf(batch))
const { eventsUrl, replayUrl } = publisher
process.stdout.write(`${JSON.stringify({ url: eventsUrl, admin_url: replayUrl })}\n`)
while (publisher.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
await new Promise((resolve) => setTimeout(resolve, 500))
for (const [i, payload] of payloads.entries()) {
  await publisher.publish(payload, { isLost: lostEvery! > 0 && i % lostEvery! === lostEvery! - 2 })
  // an engine works in steps; with such pauses a gap is repaired before the next one
  if (lostEvery! > 0) await new Promise((resolve) => setTimeout(resolve, 20))
}
