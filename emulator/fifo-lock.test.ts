import { describe, expect, it } from 'vitest'
import { FifoLock } from './fifo-lock.ts'

const never = new AbortController().signal

describe('FifoLock', () => {
  it('lets holders in one by one, in order', async () => {
    const lock = new FifoLock()
    const order: number[] = []
    const hold = async (name: number): Promise<void> => {
      const leave = await lock.enter(never)
      order.push(name)
      await Promise.resolve()
      order.push(name)
      leave()
    }
    await Promise.all([hold(1), hold(2), hold(3)])
    expect(order).toEqual([1, 1, 2, 2, 3, 3])
  })

  it('passes over those who gave up', async () => {
    const lock = new FifoLock()
    const leave = await lock.enter(never)
    const impatient = new AbortController()
    const second = lock.enter(impatient.signal)
    const third = lock.enter(never)
    impatient.abort(new Error('gone'))
    await expect(second).rejects.toThrow('gone')
    leave()
    ;(await third)()
    await expect(lock.enter(AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
    ;(await lock.enter(never))()
  })
})
