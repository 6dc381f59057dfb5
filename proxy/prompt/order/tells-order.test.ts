import { describe, expect, it } from 'vitest'
import { type Message, Sender } from '../../request/sender.fixture.ts'
import { contentsOf } from '../forms/found-lists.fixture.ts'

const texts = [
  'Ferries to the islands leave from the old harbour every morning.',
  'The museum of glass was built in 1931 and holds many lamps.',
  'Trains cross the valley on a viaduct that is made of stone.',
]
const ask = '\n\nQuestion: What happened?'

/** Lists that are found if nothing in them shows an order. */
const lists: Readonly<Record<string, (blocks: readonly string[]) => string>> = {
  labels: (blocks) => blocks.map((text, i) => `Document ${i + 1}: ${text}`).join('\n\n') + ask,
  tags: (blocks) =>
    `<documents>\n${blocks.map((text) => `<document>\n${text}\n</document>`).join('\n')}\n</documents>${ask}`,
  numbers: (blocks) => `Sources:\n${blocks.map((text, i) => `[${i + 1}] ${text}`).join('\n\n')}${ask}`,
  records: (blocks) => blocks.map((text, i) => `Source: ${i}.md\nContent: ${text}`).join('\n\n') + ask,
  JSON: (blocks) => JSON.stringify({ documents: blocks.map((content, i) => ({ url: `http://h/${i}`, content })) }),
}
const names = Object.keys(lists)

/** Beginnings of a text whose position in an order is `n`. */
const keys: Readonly<Record<string, (n: number) => string>> = {
  'a day': (n) => `2024-0${n}-12: `,
  'a time': (n) => `[10:0${n}:12] `,
  'a line of a log': (n) => `2024-06-01T10:0${n}:00Z INFO `,
  'a line of a system log': (n) => `Jun  ${n} 10:00:00 host `,
  'a day of the week': (n) => `${['Monday', 'Wednesday', 'Friday'][n - 1]}: `,
  'a German day of the week': (n) => `## ${['Montag', 'Dienstag', 'Mittwoch'][n - 1]}\n`,
  'a French day of the week': (n) => `${['lundi', 'mardi', 'mercredi'][n - 1]}: `,
  'a Portuguese day of the week': (n) => `${['segunda-feira', 'terça-feira', 'quarta-feira'][n - 1]}\n`,
  'an Arabic day of the week': (n) => `${['الاثنين', 'الثلاثاء', 'الأربعاء'][n - 1]}: `,
  'an Arabic month': (n) => `${['يناير', 'فبراير', 'مارس'][n - 1]}: `,
  'an Arabic date': (n) => `${'٥٧٩'[n - 1]} يناير ٢٠٢٣: `,
  'a Chinese month': (n) => `${'一二三'[n - 1]}月：`,
  'a Korean month': (n) => `${n}월: `,
  'a Korean date': (n) => `2024년 3월 ${n}일: `,
  'a day in Chinese': (n) => `第${'一二三'[n - 1]}天：`,
  'a step in words': (n) => `Step ${['one', 'two', 'three'][n - 1]}: `,
  'an act': (n) => `Act ${'I'.repeat(n)}\n`,
  'a Chinese day of the week': (n) => `周${'一二三'[n - 1]}：`,
  'a month': (n) => `${['January', 'February', 'March'][n - 1]}: `,
  'a month of a year': (n) => `${['November 2023', 'December 2023', 'January 2024'][n - 1]}\n`,
  'a date behind its day of the week': (n) =>
    `${['Fri', 'Mon', 'Tue'][n - 1]}, ${['03 May', '06 May', '04 Jun'][n - 1]} 2024 `,
  'a date behind its day in full': (n) => `${['Friday', 'Monday', 'Tuesday'][n - 1]}, May ${n + 2}, 2024. `,
  'an English date': (n) => `March ${n}, 2024. `,
  'a German date': (n) => `${n}. März 2024: `,
  'a French date': (n) => `Le ${n} mars 2024 : `.slice(3),
  'a Spanish date': (n) => `${n} de marzo de 2024: `,
  'a Chinese date': (n) => `2024年3月${n}日：`,
  'a bullet with a date': (n) => `- **0${n}.06.2024** `,
  'a chapter': (n) => `Chapter ${n}\n\n`,
  'a lesson': (n) => `# Lesson ${n}: `,
  'a chapter in Chinese': (n) => `第${n}章 `,
  'a German chapter': (n) => `Kapitel ${n}: `,
  'a release': (n) => `## Release ${n}.0\n`,
  'a version': (n) => `v1.${n}.0 `,
  'a number of an outline': (n) => `2.${n} `,
  'a number of a line': (n) => `${n}0  fn go() `,
  'an age': (n) => `${['3 hours ago', 'yesterday', '2 weeks ago'][n - 1]}: `,
  'an age in a tag': (n) => `<age>${['an hour ago', '2 days ago', 'a month ago'][n - 1]}</age>\n`,
  'a German age': (n) => `vor ${['3 Stunden', 'einem Tag', '2 Wochen'][n - 1]}: `,
  'a French age': (n) => `il y a ${['3 heures', 'un jour', '2 ans'][n - 1]} : `,
  'a Spanish age': (n) => `hace ${['3 horas', 'un día', '2 meses'][n - 1]}: `,
  'a Russian age': (n) => `${['3 часа', '2 дня', '5 лет'][n - 1]} назад: `,
  'a Chinese age': (n) => `${['3小时', '2天', '5年'][n - 1]}前：`,
  'a Korean age': (n) => `${['3시간', '2일', '5년'][n - 1]} 전: `,
}

const count = (text: string): number[] => contentsOf(text).map(({ length }) => length)
const isFound = (text: string): boolean => count(text).includes(3)

describe.each(names)('a list of %s', (name) => {
  const write = lists[name]!
  it('is found where nothing tells an order', () => expect(isFound(write(texts))).toBe(true))

  it.each(Object.entries(keys))(
    'is left alone where %s rises or falls through it, and found where it does neither',
    (_, key) => {
      const begun = (places: readonly number[]): string[] => texts.map((text, i) => key(places[i]!) + text)
      for (const order of [
        [1, 2, 3],
        [3, 2, 1],
      ])
        expect(isFound(write(begun(order)))).toBe(false)
      expect(isFound(write(begun([2, 1, 3])))).toBe(true)
    },
  )
})

describe('a list of texts is left alone', () => {
  const mail = (n: number): string =>
    `From: ann@x.org\nTo: bo@x.org\nSubject: Re: plan\nDate: Mon, 0${n} Jun 2024 10:00:00 +0200\n\n`
  it.each<[what: string, blocks: string[]]>([['of mails by date', texts.map((text, i) => mail(i + 1) + text)]])(
    '%s',
    (_, blocks) => {
      for (const name of ['labels', 'tags', 'numbers']) expect(isFound(lists[name]!(blocks))).toBe(false)
    },
  )

  it.each<[what: string, blocks: string[]]>([
    ['mails that do not stand by date', [2, 1, 3].map((n) => mail(n) + texts[n - 1])],
    ['documents with names of which one comes twice', [`Oslo: ${texts[0]}`, `Rome: ${texts[1]}`, `Oslo: ${texts[0]}`]],
    ['chunks of one size, cut anywhere', texts.map((text) => text.slice(4, -3))],
    ['a first chunk that begins a sentence', [texts[0]!.slice(0, -8), texts[1]!.slice(4, -9), texts[2]!.slice(4, -5)]],
    ['documents that hold a talk each', texts.map((text) => `Human: ${text}\nAssistant: I see.`)],
  ])('but not: %s', (_, blocks) => {
    for (const name of ['labels', 'tags', 'numbers']) expect(isFound(lists[name]!(blocks))).toBe(true)
  })
})

it.each([
  [['Sat: ', 'Sun: ', 'Mon: '], false],
  [['November: ', 'December: ', 'January: '], false],
  [['General: ', 'Marketing: ', 'Support: '], true],
  [['Settings: ', 'Output: ', 'Novelty: '], true],
  [['Mo goes. ', 'Di comes. ', 'Mi stays. '], true],
])('a list that begins with %j', (begins, found) => {
  expect(isFound(lists.tags!(texts.map((text, i) => begins[i] + text)))).toBe(found)
})

it.each([
  [['Monday', 'Tuesday', 'Wednesday'], false],
  [['January', 'February', 'March'], false],
  [['Act one', 'Act two', 'Act three'], false],
  [['Part I', 'Part II', 'Part III'], false],
  [['Exhibit B', 'Exhibit C', 'Exhibit D'], false],
  [['First draft', 'Second draft', 'Third draft'], false],
  [['第一章', '第二章', '第三章'], false],
  [['Draft 2', 'Draft 3', 'Draft 4'], false],
  [['星期一', '星期二', '星期三'], false],
  [['segunda-feira', 'terça-feira', 'quarta-feira'], false],
  [['الاثنين', 'الثلاثاء', 'الأربعاء'], false],
  [['ログ月曜日', 'ログ火曜日', 'ログ水曜日'], false],
  [['기록월요일', '기록화요일', '기록수요일'], false],
  [['يناير', 'فبراير', 'مارس'], false],
  [['1月', '2月', '3月'], false],
  [['٥ يناير ٢٠٢٣', '٧ فبراير ٢٠٢٣', '١ مارس ٢٠٢٣'], false],
  [['الفصل ٠٢', 'الفصل ٠٣', 'الفصل ٠٤'], false],
  [['2024년 3월 5일', '2024년 4월 1일', '2024년 4월 9일'], false],
  [['First letter', 'Second letter', 'Third letter'], false],
  [['I. Of mills', 'II. Of salt', 'III. Of bees'], false],
  [['First aid', 'Second hand goods', 'Third parties'], true],
  [['Part III', 'Part I', 'Part II'], true],
  [['Plan A', 'Plan B', 'Plan C'], true],
  [['March hares', 'April showers', 'May flowers'], true],
])('a list of texts with the names %j', (titles, found) => {
  const tags = texts.map((text, i) => `<document title="${titles[i]}">\n${text}\n</document>`).join('\n')
  expect(isFound(`<documents>\n${tags}\n</documents>${ask}`)).toBe(found)
  const records = texts.map((text, i) => `Title: ${titles[i]}\nContent: ${text}`).join('\n\n')
  expect(isFound(`Context:\n\n${records}${ask}`)).toBe(found)
})

describe('dates in the tags of a list', () => {
  const write = (attribute: string, dates: readonly string[]): string =>
    `<documents>\n${texts.map((text, i) => `<document index="${i + 1}" ${attribute}="${dates[i]}">${text}</document>`).join('\n')}\n</documents>${ask}`
  it.each(['date', 'published', 'created_at', 'timestamp'])(
    'keep it as it is where they rise or fall: %s',
    (attribute) => {
      expect(isFound(write(attribute, ['2024-01-01', '2024-02-01', '2024-03-01']))).toBe(false)
      expect(isFound(write(attribute, ['2024-03-01T10:00:00Z', '2024-02-01', '2023-12-01']))).toBe(false)
      expect(isFound(write(attribute, ['2024-02-01', '2024-01-01', '2024-03-01']))).toBe(true)
    },
  )
})

describe('dates in front of the texts of a list', () => {
  const dates = ['2024-02-11', '2024-05-02', '2024-11-30']
  it.each<[where: string, write: (text: string, date: string, i: number) => string]>([
    ['a field below others', (text, date, i) => `source: http://h/${i}\ndate: ${date}\ntitle: T${i}\nsnippet: ${text}`],
    ['a field in words', (text, date, i) => `Source: ${i}.md\nPublished: on ${date}\nContent: ${text}`],
    ['a label', (text, date, i) => `[Document ${i + 1} | ${date}]\n${text}`],
    ['brackets behind a label', (text, date, i) => `Document ${i + 1} (${date}):\n${text}`],
  ])('keep it as it is where they rise or fall: %s', (_, write) => {
    const list = (own: readonly string[]): string =>
      `Context:\n\n${texts.map((text, i) => write(text, own[i]!, i)).join('\n\n')}${ask}`
    expect(isFound(list(dates))).toBe(false)
    expect(isFound(list(dates.toReversed()))).toBe(false)
    expect(isFound(list([dates[1]!, dates[0]!, dates[2]!]))).toBe(true)
  })
})

it.each([
  ['Chunk', [12, 15, 31], false],
  ['Page', [3, 4, 9], false],
  ['Chunk', [15, 12, 31], true],
  ['Chunk', [1, 2, 3], true],
  ['Document', [12, 15, 31], true],
])(
  'parts whose numbers rise, but are not those of places, stay in the order of their text: %s %j',
  (word, at, found) => {
    const blocks = texts.map((text, i) => `[${word} ${at[i]}]\n${text}`)
    expect(isFound(`Excerpts:\n\n${blocks.join('\n\n')}${ask}`)).toBe(found)
  },
)

describe('what a tool found stays as it is', () => {
  const said = (name: string, given: object = {}, content = lists.JSON!(texts), question = 'Why?'): Message[] => [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: JSON.stringify(given) } }],
    } as never,
    { role: 'tool', content, tool_call_id: 'c' } as never,
  ]
  const blocks = (...call: Parameters<typeof said>): number => new Sender().decide({ messages: said(...call) }).blocks
  const results = (own: (place: number) => object): string =>
    JSON.stringify({ results: texts.map((content, i) => ({ content, ...own(i) })) })
  it.each(['query_logs', 'search_emails', 'searchCommits', 'retrieve_thread', 'search-messages', 'find_events'])(
    'where that follows one another in time: %s',
    (name) => expect(blocks(name)).toBe(1),
  )
  it.each(['search_news', 'get_latest_documents', 'fetch_recent_items', 'trending', 'run_sql'])(
    'where that is new, or rows: %s',
    (name) => expect(blocks(name)).toBe(1),
  )
  it.each(['search_docs', 'retrieve', 'knowledge_search', 'query_catalogue'])('but not: %s', (name) =>
    expect(blocks(name)).toBe(3),
  )

  it('where the tool was asked to sort it, or says that it did', () => {
    expect(blocks('search', { q: 'x', sort: 'date' })).toBe(1)
    expect(blocks('search', { q: 'x', order_by: 'published desc' })).toBe(1)
    for (const sorting of [
      { sql: 'SELECT title, content FROM documents ORDER BY views DESC LIMIT 3' },
      { sql: 'SELECT title\nFROM documents\n\tORDER BY views DESC' },
      { query: 'documents | sort by views' },
      { q: 'x', sort: [['views', -1]] },
      { q: 'x', newest: true },
      { q: 'x', descending: true },
    ])
      expect(blocks('search', sorting)).toBe(1)
    for (const relevance of [
      { q: 'x', sort_by: 'relevance' },
      { sql: "SELECT content FROM documents ORDER BY embedding <=> '[0.1]' LIMIT 3" },
      { sql: 'SELECT content FROM documents ORDER BY similarity(content, q) DESC' },
      { q: 'x', newest: false },
      { q: 'How do I sort by age and order by name?' },
    ])
      expect(blocks('search', relevance)).toBe(3)
    const json = lists.JSON!(texts)
    expect(blocks('search', {}, json.replace('{', '{"sort":"newest",'))).toBe(1)
    expect(blocks('search', {}, json.replace(/\}$/, ',"sort":"newest"}'))).toBe(1)
  })

  it('where a database was queried, and nothing but titles are told', () => {
    const titled = results((i) => ({ title: `Film ${i}` }))
    for (const name of ['query', 'graphqlQuery', 'soql_query', 'execute_query'])
      expect(blocks(name, {}, titled)).toBe(1)
    expect(blocks('search', {}, titled)).toBe(3)
    expect(blocks('query_knowledge_base', {}, titled)).toBe(3)
  })

  it('where scores alone speak for it', () => {
    const scored = results((i) => ({ score: 0.9 - i / 10 }))
    for (const name of ['get_leaderboard', 'ocr', 'get_directions', 'get_reviews', 'classify'])
      expect(blocks(name, {}, scored)).toBe(1)
    expect(blocks('search', {}, scored)).toBe(3)
    expect(
      blocks(
        'anything',
        {},
        results((i) => ({ similarity: 0.9 - i / 10 })),
      ),
    ).toBe(3)
  })

  it.each(['What is the first result?', 'What are the latest headlines?', 'Summarize each result.'])(
    'where the user asked in front of the call: %s',
    (question) => {
      const isMoved = (asked: string): boolean => {
        const sender = new Sender()
        const list = (all: readonly string[]): Message[] => said('search', {}, lists.JSON!(all), asked)
        sender.send(list(texts))
        const others = list([texts[1]!, texts[0]!, texts[2]!])
        return JSON.stringify(sender.send(others)) !== JSON.stringify(others)
      }
      expect(isMoved(question)).toBe(false)
      expect(isMoved('Why?')).toBe(true)
    },
  )
})

describe('numbers in front of short lines', () => {
  const lines = ['Park the car on level ground.', 'Place the pan below the sump.', 'Replace the filter by a new one.']
  const write = (all: readonly string[]): string => all.map((text, i) => `[${i + 1}] ${text}`).join('\n')
  it.each(['How do I change the oil?\n\n', 'Context:\n', 'Read the terms and cite the clause.\n\n', ''])(
    'are those of steps, verses and clauses behind %j',
    (front) => expect(isFound(`${front}${write(lines)}${ask}`)).toBe(false),
  )
  it('are those of sources where these are announced, or long', () => {
    expect(isFound(`Sources:\n${write(lines)}${ask}`)).toBe(true)
    expect(isFound(`Context:\n${write(lines.map((line) => `${line} `.repeat(5).trim()))}${ask}`)).toBe(true)
  })
})

it.each(['rss', 'build', 'project'])('elements that may be anything stay in markup of other kinds: <%s>', (root) => {
  const items = texts.map((text) => `<item><title>T</title><description>${text}</description></item>`).join('\n')
  expect(count(`<${root}>\n<channel>\n${items}\n</channel>\n</${root}>${ask}`).filter((blocks) => blocks > 1)).toEqual(
    [],
  )
})
