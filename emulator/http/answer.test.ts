import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { writeSse } from './answer.ts'

function createFullResponse(): PassThrough & ServerResponse {
  return new PassThrough({ highWaterMark: 1 }) as unknown as PassThrough & ServerResponse
}

describe('writeSse', () => {
  it('waits until the client has read', async () => {
    const response = createFullResponse()
    let written = false
    const writing = writeSse(response, { a: 1 }, new AbortController().signal).then(() => {
      written = true
    })
    await new Promise(setImmediate)
    expect(written).toBe(false)
    expect(String(response.read())).toBe('data: {"a":1}\n\n')
    await writing
  })

  it('stops waiting when the client leaves', async () => {
    const client = new AbortController()
    const writing = expect(writeSse(createFullResponse(), {}, client.signal)).rejects.toThrow()
    client.abort()
    await writing
    await expect(writeSse(createFullResponse(), {}, client.signal)).rejects.toThrow()
  })
})
