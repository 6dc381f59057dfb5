import { asks, days, entries, files, type OrderedText, people, tells, times } from './ordered-texts.fixture.ts'

/* Prompts in which nothing may move, which came with developed-later.fixture.ts. */

export const laterOrders: readonly OrderedText[] = [
  asks(
    'a chat in brackets',
    entries((s, i) => `[${people[i - 1]}] ${s}`, '\n'),
  ),
  asks(
    'steps in brackets of Chinese',
    `请按步骤操作：\n\n${entries((s, i) => `【步骤${i}】\n${s}`)}`,
    '问题：第一步是什么？',
  ),
  asks('instructions in German', `Anleitung:\n\n${entries((s, i) => `${i}) ${s}`, '\n')}`, 'Frage: Was kommt zuerst?'),
  asks(
    'étapes',
    entries((s, i) => `### Étape ${i} : ${s}`),
    'Question : que faut-il faire en premier ?',
  ),
  asks(
    'pasos',
    entries((s, i) => `--- PASO ${i} ---\n${s}`),
    'Pregunta: ¿Qué va primero?',
  ),
  asks(
    'commits',
    entries(
      (s, i) =>
        `commit ${'abcd'[i - 1]}0f1e2d3c4b5a69788796a5b4c3d2e1f0a9b8c7d\nAuthor: ${people[i - 1]}\nDate: ${days[i - 1]}\n\n    ${s}`,
    ),
  ),
  asks(
    'a log of k8s',
    entries((s, i) => `${days[i - 1]}T${times[i - 1]}:00Z pod/pump-${i} ${s}`, '\n'),
  ),
  asks(
    'stack frames',
    entries((s, i) => `#${i} 0x0000${i} in pump (${files[i - 1]}:${i}) — ${s}`, '\n'),
  ),
  tells(
    'lines of grep',
    'grep',
    entries((s, i) => `${files[i - 1]}:${i * 4}:// ${s}`, '\n'),
  ),
  tells(
    'a listing of files',
    'list_files',
    entries((_, i) => files[i - 1]!, '\n'),
  ),
  tells(
    'messages of a channel',
    'read_channel',
    entries((s, i) => `[${times[i - 1]}] <${people[i - 1]}> ${s}`, '\n'),
  ),
  tells(
    'the result of a query',
    'run_sql',
    `id | text\n---+-----\n${entries((s, i) => `${i} | ${s}`, '\n')}\n(4 rows)`,
  ),
  tells(
    'a diff of patches',
    'git_diff',
    entries(
      (s, i) =>
        `diff --git a/${files[i - 1]} b/${files[i - 1]}\n--- a/${files[i - 1]}\n+++ b/${files[i - 1]}\n+// ${s}`,
      '\n',
    ),
  ),
  asks(
    'release notes',
    entries((s, i) => `=== Release 2.${10 - i}.0 ===\n${s}`),
  ),
  asks(
    'slides',
    entries((s, i) => `[Slide ${i}]\n${s}`),
  ),
  asks(
    'scenes of a play',
    entries((s, i) => `*** SCENE ${i} ***\n${s}`),
  ),
  asks(
    'subtitles',
    entries((s, i) => `${i}\n00:00:0${i},000 --> 00:00:0${i + 1},000\n${s}`),
  ),
  asks('a FAQ', `# FAQ\n\n${entries((s, i) => `**Q${i}. What about day ${i}?**\n${s}`)}`),
  asks(
    'few-shot examples with documents',
    entries((s, i) => `[Document]\n${s}\n[Summary]\nDay ${i}.`),
    '[Document]\nIt stopped.\n[Summary]',
  ),
  asks(
    'inputs and outputs',
    entries((s, i) => `Input: ${s}\nOutput: ${i}`),
    'Input: It stopped.\nOutput:',
  ),
  asks(
    'requirements',
    `The system must fulfil:\n\n${entries((s, i) => `[REQ-${i}] ${s}`)}`,
    'Question: Which come first?',
  ),
  asks(
    'rules of a game',
    entries((s, i) => `Rule ${i}: ${s}`),
  ),
  asks(
    'user stories in order of priority',
    entries((s, i) => `- [P${i}] ${s}`, '\n'),
  ),
  asks(
    'answers of a survey',
    entries((s, i) => `Respondent ${i} (${people[i - 1]}): ${s}`),
  ),
  asks('a table of contents', `Contents:\n${entries((_, i) => `${i}. Chapter ${i} ........ ${i * 7}`, '\n')}`),
  asks(
    'a JSON of steps',
    JSON.stringify({ steps: [1, 2, 3].map((n) => ({ step: n, text: `Open valve ${n} and wait.` })) }),
  ),
  asks(
    'a JSON of messages',
    JSON.stringify(
      [1, 2, 3].map((n) => ({ role: n % 2 ? 'user' : 'assistant', content: `Message ${n} of the talk about pumps.` })),
    ),
  ),
  asks('YAML of jobs', `jobs:\n${entries((s, i) => `- title: job ${i}\n  source: cron\n  description: "${s}"`, '\n')}`),
  asks(
    'licences',
    entries((s, i) => `SECTION ${i}. ${s.toUpperCase()}`),
  ),
  asks(
    'verses',
    entries((s, i) => `${i} ${s}`, '\n'),
  ),
  asks(
    'a plan of a trip',
    entries((s, i) => `Day ${i} – ${s}`),
  ),
  asks(
    'thread of a forum',
    entries((s, i) => `#${i} ${people[i - 1]}, ${days[i - 1]}\n${s}`),
  ),
  asks(
    'files to be created in turn',
    `Create these one after another:\n\n${entries((s, i) => `### ${i}. ${files[i - 1]}\n\`\`\`ts\n// ${s}\n\`\`\``)}`,
    'Begin.',
  ),
  asks(
    'quoted drafts',
    entries((s, i) => `Draft ${i}:\n"""\n${s}\n"""`),
    'Which draft reads best?',
  ),
  asks(
    'candidates to choose from',
    `Choose one:\n\n${entries((s, i) => `Option ${'ABCD'[i - 1]}: ${s}`)}`,
    'Which option is best?',
  ),
]
