import { expect, it } from 'vitest'
import { listsIn } from './ordered-texts.fixture.ts'

const texts = [
  'The engine takes care of what is asked for first, and keeps it for as long as there is room.',
  'Whoever comes later finds it there, unless others have asked for more than it can hold.',
  'What was not asked for in a long time goes, and has to be made again when it is wanted.',
]
const sites = ['Docker', 'Clone', 'Login'].map((name) => `${name}** (https://docs.example.com/${name.toLowerCase()})`)
const files = ['a', 'b', 'c'].map((name) => `src/${name}.md`)
const ask = '\n\nWhat does it say about room?'

const linked = (lead: string): string =>
  `${lead}\n\n${texts.map((text, i) => `${i + 1}. **${sites[i]}\n${text}`).join('\n\n')}${ask}`
const ruled = (lead: string): string =>
  `${lead}\n\n${texts.map((text, i) => `--- ${files[i]} ---\n${text}`).join('\n\n')}${ask}`
const found = (content: string): number[] => listsIn([{ role: 'user', content }])

it.each([
  linked('Our onboarding documentation:'),
  linked('Documents to read before the exam:'),
  linked('Articles I want to read this week:'),
  linked('Useful information:'),
  linked('Context:'),
  ruled('Files to create:'),
  ruled('My pull request changes these files:'),
  ruled('Files in load order:'),
  ruled('Migration files:'),
])('what somebody writes or does was not retrieved: %j', (content) => {
  expect(found(content)).toEqual([])
})

it.each([
  linked('Search results:'),
  linked('Sources:'),
  linked('Use the following documents:'),
  ruled('Relevant files:'),
])('what was retrieved is found: %j', (content) => {
  expect(found(content)).toEqual([3])
})
