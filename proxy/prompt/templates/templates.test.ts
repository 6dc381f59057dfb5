import { describe, expect, it } from 'vitest'
import { blind } from './blind.fixture.ts'
import { blindOrders } from './blind-orders.fixture.ts'
import { developed } from './developed.fixture.ts'
import { developedLater } from './developed-later.fixture.ts'
import { laterOrders } from './developed-later-orders.fixture.ts'
import { drawn } from './drawn.fixture.ts'
import { drawnLater } from './drawn-later.fixture.ts'
import { listsIn, orderedTexts } from './ordered-texts.fixture.ts'
import { ordinary } from './ordinary.fixture.ts'
import { agents } from './published/agents.fixture.ts'
import { chatApplicationsFirst } from './published/chat-applications-first.fixture.ts'
import { chatApplicationsSecond } from './published/chat-applications-second.fixture.ts'
import { defaultPrompts } from './published/default-prompts.fixture.ts'
import { projects } from './published/projects.fixture.ts'
import { subjects } from './published/subjects.fixture.ts'
import { documentKinds, documentsOf, judge, type Template } from './template.fixture.ts'

/** Returns the verdict on each template's documents, one word per kind of document. */
function describeVerdicts(templates: readonly Template[]): string {
  return templates
    .map(
      (template, i) =>
        `${documentKinds.map((kind) => judge(template, documentsOf(kind, i))).join(' ')}\t${template.name}\n`,
    )
    .join('')
}

describe.each([
  ['developed', developed],
  ['developed-later', developedLater],
  ['blind', blind],
  ['drawn', drawn],
  ['drawn-later', drawnLater],
  ['published/chat-applications', [...chatApplicationsFirst, ...chatApplicationsSecond]],
  ['published/agents', agents],
  ['published/projects', projects],
  ['published/subjects', subjects],
  ['published/default-prompts', defaultPrompts],
] as const)('templates as applications write them: %s', (name, templates) => {
  it('are found or left alone as before, and none is torn', async () => {
    const verdicts = describeVerdicts(templates)
    expect(verdicts).not.toContain('torn')
    await expect(verdicts).toMatchFileSnapshot(`./${name}.golden.txt`)
  })
})

it.each([...orderedTexts, ...laterOrders])('nothing is found in $name', ({ messages }) => {
  expect(listsIn(messages)).toEqual([])
})

it.each(blindOrders)('nothing is found in what was drawn blind: $name', ({ messages }) => {
  expect(listsIn(messages)).toEqual([])
})

it('touches few ordinary prompts in the dress of retrieved texts, and no others than before', async () => {
  const touched = ordinary.filter(({ messages }) => listsIn(messages).length > 0).map(({ name }) => `${name}\n`)
  await expect(touched.join('')).toMatchFileSnapshot('./ordinary.golden.txt')
  expect(touched.length / ordinary.length).toBeLessThanOrEqual(0.2)
})
