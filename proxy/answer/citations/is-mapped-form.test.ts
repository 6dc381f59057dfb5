import { expect, test } from 'vitest'
import { isMappedForm } from './is-mapped-form.ts'

test.each(['[1]', '[X]', '[n]', '[1, 3]', '[{index}]', '[number]', '【1】', '[^1]'])('%j is mapped', (specimen) => {
  expect(isMappedForm(specimen, { prefix: '' })).toBe(true)
})

test.each(['{X}', '<<1>>', '##X$$', '(A)', 'as a list', '(1)', '1.'])('%j is not mapped', (specimen) => {
  expect(isMappedForm(specimen, { prefix: '' })).toBe(false)
})
