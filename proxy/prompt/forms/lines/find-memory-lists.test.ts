import { describe, expect, it } from 'vitest'
import { behindLists, contentsOf, findContextLists, labelsOf } from '../found-lists.fixture.ts'

describe('memories', () => {
  it.each([
    ['User Memories:\n', '- '],
    ['## Memories\n', '* '],
    ['Here are relevant memories:\n\n', '- '],
    ['**Relevant memories:**\n', '• '],
    ['[User Memory]\n', '- '],
    ['<user_memories>\n', '- '],
    ['Relevant information from previous conversations:\r\n', '- '],
    ['What you know about the user:\n', '  - '],
    ['Memories for user Caroline:\n', '- '],
    ['Memories of the user:\n', '- '],
    ['Memories for alice-7:\n', '- '],
    ['Relevant memories from previous conversations:\n', '- '],
    ['### Memories about you\n', '- '],
  ])('below %j are blocks', (heading, bullet) => {
    const list = `${heading}${bullet}Owns a boat\n${bullet}2024-05-01: likes 雨\n${bullet}Lives at [1]`
    expect(contentsOf(`You are kind.\n${list}\n\nAnswer briefly.`)).toEqual([
      ['Owns a boat', '2024-05-01: likes 雨', 'Lives at [1]'],
    ])
    expect(behindLists(`${list}\n\nAnswer briefly.`)).toEqual(['\n\nAnswer briefly.'])
  })

  it('in a container need no heading, and keep the lines below them', () => {
    const text = '<memories>\n- Owns a boat\n  and a bike\n- Likes tea\n</memories>\nHi'
    expect(contentsOf(text)).toEqual([['Owns a boat\n  and a bike', 'Likes tea']])
    expect(behindLists(text)).toEqual(['\nHi'])
  })

  it('that are numbered have position labels', () => {
    const text = 'User Context:\n1. Owns a boat\n2. Likes tea\n'
    expect(labelsOf(text)).toEqual(['1', '2'])
    expect(findContextLists(text)).toMatchObject([{ positional: true }])
  })
})

describe('no memories', () => {
  it.each([
    ['ordinary bullets', 'You are kind.\n- be brief\n- be clear'],
    ['bullets below another heading', 'Guidelines:\n- be brief\n- be clear'],
    ['rules about memories', 'Rules for memories:\n- never save names\n- keep them short'],
    ['directions how to use them', 'How to use the memories:\n- read them\n- answer'],
    ['a sentence about memories', 'I have many memories of you.\n- a\n- b'],
    ['about the memory of a computer', '**Memory usage:**\n- lower for large objects\n- higher for small ones'],
    ['what a poem is to be about', 'Memories of my grandmother:\n- she was kind\n- she baked'],
    ['the parts of a book', '## Memories from a long journey\n- Rome\n- Athens'],
    ['a single one', 'User Memories:\n- Owns a boat'],
    ['bullets whose last may go on', 'User Memories:\n- Owns a boat\n- Likes tea\nand coffee'],
    ['bullets that an unindented line interrupts', 'User Memories:\n- Owns a boat\nthat is red\n- Likes tea'],
    ['fenced code', '```\nUser Memories:\n- Owns a boat\n- Likes tea\n```'],
    ['a far heading', 'User Memories:\nnone\n\n- a\n- b'],
  ])('are %s', (_, text) => {
    expect(contentsOf(text)).toEqual([])
  })
})
