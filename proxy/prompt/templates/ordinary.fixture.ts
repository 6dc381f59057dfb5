import type { OrderedText } from './ordered-texts.fixture.ts'
import { system, user } from './template.fixture.ts'

/* Ordinary prompts in the dress of retrieved texts: what people number, tag and fill into fields, and nobody retrieved. */

type Dress = (texts: readonly string[]) => string

const joined =
  (write: (text: string, number: number) => string, between = '\n\n'): Dress =>
  (texts) =>
    texts.map((text, i) => write(text, i + 1)).join(between)

const dresses: Readonly<Record<string, Dress>> = {
  'Document 1:': joined((text, i) => `Document ${i}: ${text}`),
  '[Source 1]': joined((text, i) => `[Source ${i}] ${text}`),
  'Excerpt 1:': joined((text, i) => `Excerpt ${i}:\n${text}`),
  'Result 1:': joined((text, i) => `Result ${i}: ${text}`),
  '### Chunk 1': joined((text, i) => `### Chunk ${i}\n${text}`),
  'Title, Content': joined((text) => `Title: ${text.split(' ', 2).join(' ')}\nContent: ${text}`),
  'Content, Source': joined((text, i) => `Content: ${text}\nSource: page ${'cabd'[i - 1]}`),
  '<documents>': (texts) =>
    `<documents>\n${joined((text, i) => `<document index="${i}">\n${text}\n</document>`, '\n')(texts)}\n</documents>`,
  '<passage>': joined((text) => `<passage>${text}</passage>`, '\n'),
  '[1]': joined((text, i) => `[${i}] ${text}`, '\n'),
  JSON: (texts) => JSON.stringify({ articles: texts.map((content, i) => ({ id: `a${i}`, content })) }, null, 1),
}

interface Scene {
  readonly family: string
  readonly texts: readonly string[]
  /** what is before the texts, and after them */
  readonly words: readonly (readonly [before: string, behind: string])[]
}

const scenes: readonly Scene[] = [
  {
    family: 'a story in pieces',
    texts: [
      'Vera had locked the boat house herself, and now the door stood open.',
      'Nothing was missing but the oars, which nobody would steal who had no boat.',
      'She sat down on the step and waited for whoever needed her help.',
      'It was nearly dark when the ferryman came, and he carried one oar.',
    ],
    words: [
      ['', 'Continue the story in her voice.'],
      ['', 'Write the next scene.'],
      ['', 'This is my story. Is the end too sudden?'],
      ['My manuscript, in four parts:', 'Does the tension rise?'],
      ['', 'Schreib ein anderes Ende.'],
      ['', 'Écris la suite.'],
      ['', 'Напиши продолжение.'],
      ['', '续写这个故事。'],
      ['Translate into Dutch and keep the marks.', ''],
    ],
  },
  {
    family: 'a programme',
    texts: [
      'Doors, and a drone that nobody notices until it stops.',
      'The choir walks in through the audience, singing.',
      'A piece for two pianos, one of them out of tune.',
      'Everybody, softly; then the lights go up.',
    ],
    words: [
      ['', 'What should the ushers know about tonight?'],
      ['', 'Turn this into a leaflet.'],
      ['Our running order for Friday:', 'Is it too long?'],
      ['', 'What comes after the pianos?'],
      ['', 'Where would you put the interval?'],
    ],
  },
  {
    family: 'a backlog',
    texts: [
      'Invoices lose their footer when they are longer than one page.',
      'Let an owner hand a workspace over to somebody else.',
      'The search forgets its filters when a tab is closed.',
      'Replace the grey of the price table by one that can be read.',
    ],
    words: [
      ['', 'What do you make of our backlog?'],
      ['Most urgent first:', 'Anything that should move up?'],
      ['', 'Estimate each entry in days.'],
      ['', 'Which of them would you start with?'],
    ],
  },
  {
    family: 'what was tried',
    texts: [
      'ping gateway answers within two milliseconds, as it should.',
      'curl on the gateway is refused, and nothing is logged.',
      'the unit was stopped by hand last night, so it was started again.',
      'it cannot bind its port, which another process holds.',
    ],
    words: [
      ['', 'What should I try next?'],
      ['This is what I did so far:', 'Why is it refused?'],
      ['', 'Write this up as a report for the team.'],
    ],
  },
  {
    family: 'a guide',
    texts: [
      'Unplug the old lamp and let it cool for ten minutes.',
      'Take out the four screws and keep them in the lid.',
      'Slide in the new lamp until it clicks.',
      'Put the screws back before anything is plugged in.',
    ],
    words: [
      ['', 'Rewrite these steps for a leaflet.'],
      ['', 'Is anything missing between the screws and the click?'],
      ['How to change the lamp:', 'Can I leave out the screws?'],
      ['', 'Kürze das auf einen Absatz.'],
    ],
  },
  {
    family: 'candidates',
    texts: [
      'Zoos should be shut: an animal that walks in circles tells us something.',
      'Zoos are good, since a child can see a giraffe there and learn from it.',
      'There is no such thing as zoos, there are good ones and cruel ones.',
      'I never was in one, so I asked my aunt, who was a keeper.',
    ],
    words: [
      ['Grade each essay from 1 to 5.', ''],
      ['', 'Which one is the most convincing?'],
      ['', 'Rank them by style.'],
      ['', 'Label every comment as for or against, one label per line.'],
      ['', 'Compare the first with the third.'],
    ],
  },
  {
    family: 'a letter',
    texts: [
      'Thank you for your patience in the past weeks.',
      'The delivery is late once more, and we know how often we said otherwise.',
      'A fire in the warehouse is the reason, which hurt nobody.',
      'We ask you to bear with us until the end of May.',
    ],
    words: [
      ['', 'Das ist mein Brief. Der vorletzte Absatz klingt zu hart.'],
      ['', 'I wrote this for our customers. Too stiff?'],
      ['', 'Corrige la ortografía.'],
      ['', 'Merge the last two.'],
      ['', 'Make it warmer.'],
    ],
  },
  {
    family: 'a log',
    texts: [
      'worker two has picked the job and fetches its files',
      'worker three has picked the same job',
      'worker two has lost its lease and goes on',
      'worker three is done; worker two is done',
    ],
    words: [
      ['', 'Why did two workers take one job?'],
      ['From top to bottom, as it was logged:', 'Who was at fault?'],
      ['', 'What happened before the lease was lost?'],
    ],
  },
]

/** Each with its name and family; the roles of a waiter's rules are those of a system prompt. */
export const ordinary: readonly (OrderedText & { readonly family: string })[] = [
  ...scenes.flatMap(({ family, texts, words }) =>
    words.flatMap(([before, behind], n) =>
      Object.entries(dresses)
        // each wording in a few dresses, each dress with all families
        .filter((_, i) => (i + n) % 3 === 0)
        .map(([dress, write]) => ({
          family,
          name: `${family}, ${dress}, ${behind || before}`,
          messages: [user([before, write(texts), behind].filter(Boolean).join('\n\n'))],
        })),
    ),
  ),
  ...Object.entries(dresses).map(([dress, write]) => ({
    family: 'rules of a system prompt',
    name: `rules of a system prompt, ${dress}`,
    messages: [
      system(
        write([
          'You are the waiter of a small inn and know all guests.',
          'Ask for the number of people before you speak of tables.',
          'If somebody is allergic, call the cook; this comes before everything.',
          'Say good night at the end, and mean it.',
        ]),
      ),
      user('A table for two, please.'),
    ],
  })),
  ...['Summary', 'Label', 'Entities'].flatMap((answer) =>
    ['Document', 'Passage', 'Text', 'Excerpt'].map((noun) => ({
      family: 'examples to go on with',
      name: `examples to go on with, ${noun} and ${answer}`,
      messages: [
        user(
          [
            'The ferry cuts its winter timetable.',
            'The library stays open on Saturdays.',
            'The second line has opened.',
          ]
            .map((text, i) => `${noun}: ${text}\n${answer}:${i < 2 ? ' as it is done' : ''}`)
            .join('\n\n'),
        ),
      ],
    })),
  ),
]
