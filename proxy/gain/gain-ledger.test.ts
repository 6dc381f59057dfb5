import { expect, test } from 'vitest'
import { GainLedger } from './gain-ledger.ts'

const request = {
  requests: 1,
  prompt_tokens: 100,
  cached_tokens: 40,
  without_tokens: 10,
  with_tokens: 40,
  possible_tokens: 70,
  model_error_tokens: -2,
  exact_requests: 1,
}
const labels = { replicas: 'gpu-0', routes: 'messages', tenants: 'acme', shapes: 'user: no blocks' }

test('sums up by each label, and in all', () => {
  const ledger = new GainLedger()
  ledger.note(labels, request)
  ledger.note({ ...labels, tenants: 'other' }, { ...request, exact_requests: 0 })
  ledger.leaveOut('unreported')
  ledger.leaveOut('too_long')
  ledger.leaveOut('unreported')
  const { uncounted_requests: leftOut, uncounted_by_reason: reasons, ...total } = ledger.total
  expect(leftOut).toBe(3)
  expect(reasons).toEqual({ unreported: 2, too_long: 1, too_many: 0 })
  expect(total).toEqual({
    requests: 2,
    prompt_tokens: 200,
    cached_tokens: 80,
    without_tokens: 20,
    with_tokens: 80,
    possible_tokens: 140,
    model_error_tokens: -4,
    model_off_tokens: 4,
    exact_requests: 1,
  })
  expect(ledger.by('tenants').map(({ name, requests }) => [name, requests])).toEqual([
    ['other', 1],
    ['acme', 1],
  ])
  expect(ledger.by('routes')).toEqual([{ name: 'messages', ...total }])
})

test('keeps the sums of so many tenants and shapes and no more; the total has all', () => {
  const ledger = new GainLedger()
  for (let i = 0; i < 200; i++) ledger.note({ ...labels, tenants: `t${i}`, shapes: `s${i}` }, request)
  expect([ledger.by('tenants').length, ledger.by('shapes').length]).toEqual([50, 50])
  expect(ledger.total.requests).toBe(200)
})
