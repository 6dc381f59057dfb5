import type { Message } from '../../request/sender.fixture.ts'
import { searchMessage } from '../find-contexts.ts'
import { readPromptBody } from '../formats/read-prompt-body.ts'

/* Prompts with repeated marks whose order means something, or that hold no retrieved texts: nothing may move in them. */

/** A prompt in which no list may be found. */
interface OrderedText {
  readonly name: string
  readonly messages: readonly Message[]
}

/** How many blocks the lists have that are found in a chat; tools' results as a whole are none. */
export function listsIn(messages: readonly Message[]): number[] {
  const { set } = readPromptBody('chat_completions', Buffer.from(JSON.stringify({ model: 'm', messages })))!
  const texts = set!.texts.map(({ text }) => text)
  return set!.prompts[0]!.messages.flatMap((message) =>
    searchMessage(message, texts)
      .contexts.filter(({ slots }) => slots.length > 1)
      .map(({ slots }) => slots.length),
  )
}

const says = [
  'The pump was started and ran without noise for the whole of the first hour.',
  'A leak showed at the lower valve, so that the line had to be closed again.',
  'The seal was changed for one of rubber, which had been ordered the week before.',
  'Pressure was raised slowly to the value of the plate and held there overnight.',
]

/** Four entries, one for each thing said. */
function entries(write: (said: string, number: number) => string, between = '\n\n'): string {
  return says.map((said, i) => write(said, i + 1)).join(between)
}

function asks(name: string, text: string, question = 'Question: What went wrong first?'): OrderedText {
  return { name, messages: [{ role: 'user', content: `${text}\n\n${question}` }] }
}

function tells(name: string, tool: string, result: string): OrderedText {
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: '{}' } }
  return {
    name,
    messages: [
      { role: 'user', content: 'What went wrong first?' },
      { role: 'assistant', content: null, tool_calls: [call] } as Message,
      { role: 'tool', tool_call_id: 'call_1', content: result } as Message,
    ],
  }
}

const times: readonly string[] = ['09:12', '09:40', '11:05', '17:30']
const days: readonly string[] = ['2024-03-01', '2024-03-02', '2024-03-05', '2024-03-09']
const people: readonly string[] = ['Ann', 'Bo', 'Ann', 'Cy']
const files: readonly string[] = ['src/pump.ts', 'src/valve.ts', 'src/seal.ts', 'src/line.ts']

/** Those to look at when the finder is fixed. */
export const orderedTexts: readonly OrderedText[] = [
  asks(
    'pages of one file, each with a score behind its number',
    entries((s, i) => `<document source="pump.pdf#page=${i}" score="0.${97 - i * i}">${s}</document>`, '\n'),
  ),
  asks(
    'pages of one file, each with a score of another name',
    entries((s, i) => `<document source="pump.pdf#page=${i}" 相关度="${i}.5e-01">${s}</document>`, '\n'),
  ),
  asks('steps in angle brackets', `Do this:\n\n${entries((s, i) => `<<<STEP ${i}>>>\n${s}`)}`),
  asks(
    'turns of a template',
    entries((s, i) => `<|${i % 2 ? 'user' : 'assistant'}|>\n${s}`, '\n'),
  ),
  asks(
    'a log in rules',
    entries((s, i) => `================\nEntry: ${times[i - 1]}\n================\n${s}`),
  ),
  asks(
    'files of an agent, to be changed in turn',
    `Apply these changes one after another.\n\n${entries((s, i) => `--- ${files[i - 1]} ---\n// ${s}`)}`,
    'Start with the first one.',
  ),
  tells(
    'a diff',
    'bash',
    entries((s, i) => `--- a/${files[i - 1]}\n+++ b/${files[i - 1]}\n@@ -1 +1 @@\n-// old\n+// ${s}`, '\n'),
  ),
  tells(
    'files that a tool read',
    'read_files',
    entries((s, i) => `--- ${files[i - 1]} ---\n\n// ${s}\nexport const a${i} = ${i}`),
  ),
  tells(
    'outputs of tests',
    'run_tests',
    entries((s, i) => `=== RUN Test${i}\n    ${s}\n--- PASS: Test${i} (0.${i}s)`, '\n'),
  ),
  asks(
    'hours in brackets',
    entries((s, i) => `[${times[i - 1]}] ${people[i - 1]}: ${s}`, '\n'),
  ),
  asks('a numbered how-to', `How to start the pump:\n\n${entries((s, i) => `${i}. ${s}`, '\n')}`),
  asks('findings in order', `What happened, from the first to the last:\n\n${entries((s) => `* ${s}`, '\n')}`),
  asks('chapters', `# The pump\n\n${entries((s, i) => `## Chapter ${i}: Day ${i}\n\n${s}`)}`),
  asks('versions', `# Changelog\n\n${entries((s, i) => `### v1.${9 - i}\n\n- ${s}`)}`),
  asks(
    'examples',
    `Sort reports into good and bad.\n\n${entries((s, i) => `### Example ${i}\nReport: ${s}\nSort: ${i % 2 ? 'good' : 'bad'}`)}`,
    'Report: It stopped.\nSort:',
  ),
  asks(
    'choices with letters',
    `Which is true?\n\n${entries((s, i) => `[${'ABCD'[i - 1]}] ${s}`, '\n')}`,
    'Answer with one letter.',
  ),
  asks(
    'questions and answers of a user',
    entries((s, i) => `Q${i}: What about day ${i}?\nA${i}: ${s}`),
  ),
  asks(
    'settings',
    entries((s, i) => `Name: PUMP_${i}\nValue: ${i * 10}\nNote: ${s}`),
    'Write this as YAML.',
  ),
  asks(
    'mails',
    entries((s, i) => `From: ${people[i - 1]}\nDate: ${days[i - 1]}\nSubject: Re: pump\n\n${s}`),
  ),
  asks(
    'a thread, quoted',
    entries((s, i) => `On ${days[i - 1]}, ${people[i - 1]} wrote:\n> ${s}`),
  ),
  asks(
    'tickets by date',
    entries((s, i) => `Ticket #${100 + i} (${days[i - 1]}): ${s}`),
  ),
  asks('pages of one text', `Here is the contract:\n\n${entries((s, i) => `--- Page ${i} ---\n${s}`)}`),
  asks('parts of one paper', `The report below was split.\n\n${entries((s, i) => `[Part ${i}/4]\n${s}`)}`),
  asks('clauses', `AGREEMENT\n\n${entries((s, i) => `Section ${i}. ${s}`)}`),
  asks('tasks for the model', `Do these tasks in order:\n\n${entries((s, i) => `### Task ${i}\n${s}`)}`),
  asks(
    'a plan with marks',
    entries((s, i) => `${['✅', '🔄', '⏳', '⏳'][i - 1]} Phase ${i}: ${s}`, '\n'),
  ),
  asks('rows of a log as CSV', `time,level,message\n${entries((s, i) => `${times[i - 1]},INFO,"${s}"`, '\n')}`),
  asks('a table of days', `| Day | What |\n|---|---|\n${entries((s, i) => `| ${i} | ${s} |`, '\n')}`),
  asks('a YAML list of steps', `steps:\n${entries((s, i) => `- name: step ${i}\n  run: |\n    echo "${s}"`, '\n')}`),
  asks(
    'manifests',
    entries(
      (s, i) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: pump-${i}\ndata:\n  note: "${s}"`,
      '\n',
    ),
  ),
  asks(
    'notes of a meeting',
    `Meeting of March 1\n\n${entries((s, i) => `${people[i - 1]}: ${s}`, '\n')}\n\nActions:\n1. Order a seal.\n2. Call Bo.`,
  ),
  asks(
    'a poem',
    entries((s, i) => `[${i}] ${s}`, '\n'),
    'What rhymes?',
  ),
  asks(
    'comments of a review',
    entries((s, i) => `> ${files[i - 1]}:${i * 10}\n${s}`),
  ),
  asks(
    'source files in fences with words between',
    entries((s, i) => `Then open \`${files[i - 1]}\`:\n\n\`\`\`ts\n// ${s}\n\`\`\``),
  ),
  asks(
    'a dump of a table',
    entries((s, i) => `*************************** ${i}. row ***************************\n id: ${i}\ntext: ${s}`, '\n'),
  ),
  asks(
    'thoughts of an agent',
    entries((s, i) => `Thought ${i}: ${s}\nAction ${i}: look\nObservation ${i}: nothing`, '\n'),
  ),
  asks('hypotheses', `Rank nothing, only check them:\n\n${entries((s, i) => `Hypothesis ${i}: ${s}`)}`),
  asks(
    'cases of tests',
    entries((s, i) => `# Case ${i}\ninput: ${i}\n# ${s}`),
  ),
]
