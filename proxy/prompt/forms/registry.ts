import type { FormId } from '../judge/context-list.ts'

/** What speaks for a list besides its marks. */
export type Need =
  /** nothing more: the marks say that each block is a retrieved text */
  | 'nothing'
  /** one of: announced as several texts, in a container of such, given by a tool that searches, asked about */
  | 'one_more'
  /** two of what retrieved texts have: a place that says so, a source of each, scores, numbers of documents */
  | 'two_kinds'

/** One form that lists of retrieved texts have in prompts. */
export interface Form {
  readonly id: FormId
  readonly what: string
  /** What ends a block: its own sign, the next mark, what parts two, or its line. */
  readonly closes: 'itself' | 'next_mark' | 'separator' | 'line'
  /** What its label is: of the place, of the block, or none. */
  readonly label: 'position' | 'name' | 'none'
  readonly needs: Need
  /** Prompts that hold one list of two blocks of this form, each as found. */
  readonly examples: readonly string[]
  /** Texts of the same marks that are left alone. */
  readonly alike: readonly string[]
}

const [rain, sun] = ['It rained in Oslo all day.', 'The sun shone in Rome again.']
const ask = '\n\nQuestion: why?'

/** All forms. A list of any other is left alone, unless a pattern of the user's finds it. */
export const forms: readonly Form[] = [
  {
    id: 'label',
    what: 'a noun and a number or name in front of each block',
    closes: 'next_mark',
    label: 'position',
    needs: 'nothing',
    examples: [
      `Document 1: ${rain}\nDocument 2: ${sun}${ask}`,
      `Doc 1(Title: Oslo) ${rain}\nDoc 2(Title: Rome) ${sun}${ask}`,
      `Source ID [a1]:\n${rain}\nSource ID [b2]:\n${sun}${ask}`,
      `文档1：${rain}\n文档2：${sun}\n\n问题：为什么？`,
      `Retrieved documents:\n[doc1]: ${rain}\n[doc2]: ${sun}${ask}`,
      `Sources:\n[a.md]: ${rain}\n[b.md]: ${sun}${ask}`,
      `Facts:\n==== [File:a.md;Relevance:83%]:\n${rain}\n==== [File:b.md;Relevance:71%]:\n${sun}\n======\nAnswer.`,
      `Document 0:::\n${rain}\nDocument 1:::\n${sun}${ask}`,
      `===== Document 0 =====\n${rain}\n===== Document 1 =====\n${sun}${ask}`,
      `Result 1\nDocument_id: a\nContent: ${rain}\nResult 2\nDocument_id: b\nContent: ${sun}${ask}`,
      `Документ 1: ${rain}\nДокумент 2: ${sun}\n\nВопрос: почему?`,
      `[문서 1] ${rain}\n[문서 2] ${sun}\n\n질문: 왜?`,
      `Context:\n[Source 1: a.md (relevance: 0.83)]\n${rain}\n\n[Source 2: b.md (relevance: 0.71)]\n${sun}${ask}`,
      `Documents:\n[Document 1 - a.md]\n${rain}\n\n[Document 2 - b.md]\n${sun}${ask}`,
      `Context:\n**Document 1 (a.md)**\n${rain}\n\n**Document 2 (b.md)**\n${sun}${ask}`,
      `--- Extrait 1 (source : a.md) ---\n${rain}\n\n--- Extrait 2 (source : b.md) ---\n${sun}\n\nQuestion : pourquoi ?`,
      `=== Document: a.md ===\n${rain}\n\n=== Document: b.md ===\n${sun}${ask}`,
      `Documents:\n(Source: a.md)\n${rain}\n\n(Source: b.md)\n${sun}${ask}`,
      `Passage:\nDocument 1\n${rain}\nDocument 2\n${sun}${ask}`,
      `# Documents\n\n## Document ID: 0\n\nText: ${rain}\n\n## Document ID: 1\n\nText: ${sun}${ask}`,
      `Use the following information:\n\n- [c910e2e]: ${rain}\n- [abcdefa]: ${sun}${ask}`,
      `## Search Results\n\n[Oslo](https://a.example)\n${rain}\n\n[Rome](https://b.example)\n${sun}${ask}`,
      `## Search Results\n\n1. [Oslo](https://a.example)\n${rain}\n\n2. [Rome](https://b.example)\n${sun}${ask}`,
      `【参考文档1】\n${rain}\n\n【参考文档2】\n${sun}\n\n问题：为什么？`,
      `Sources:\nid|text\n17|"${rain}"\n4|"${sun}"\n\nAnswer.`,
    ],
    alike: [
      `Step 1: ${rain}\nStep 2: ${sun}${ask}`,
      `question: why?\ncontext1: ${rain}\ncontext2: ${sun}\noutput:`,
      `<context>\nArticle 1: ${rain}\nArticle 2: ${sun}\n</context>\n\nWhy?`,
      `[Oslo](https://a.example)\n${rain}\n\n[Rome](https://b.example)\n${sun}${ask}`,
      `Changes:\n- [c910e2e]: ${rain}\n- [b12cd2f]: ${sun}${ask}`,
      `[Step 1: open]\n${rain}\n\n[Step 2: close]\n${sun}${ask}`,
      `Шаг 1: ${rain}\nШаг 2: ${sun}\n\nВопрос: почему?`,
      `Result 1\nStatus: ${rain}\nResult 2\nStatus: ${sun}${ask}`,
      `### File 1: ${rain}\n\n### File 2: ${sun}`,
      `Answer in this format:\nSource 1: ${rain}\nSource 2: ${sun}`,
    ],
  },
  {
    id: 'number',
    what: 'a number in brackets in front of each block, counting up',
    closes: 'next_mark',
    label: 'position',
    needs: 'one_more',
    examples: [
      `[1] ${rain}\n[2] ${sun}${ask}`,
      `Gathered information:\n[1]: ${rain}\n[2]: ${sun}${ask}`,
      `参考资料：\n【1】巴黎是法国的首都。\n【2】柏林是德国的首都。\n\n问题：法国的首都是哪里？`,
      `[[ ## context ## ]]\n[1] «${rain}»\n[2] «««\n${sun}\n»»»\n\n[[ ## question ## ]]\nWhy?`,
    ],
    alike: [
      `[1] ${rain}\n[2] ${sun}`,
      `How is the oil changed?\n\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `Context:\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `== References ==\n[1] - https://a.example\n\n[2] - https://b.example${ask}`,
    ],
  },
  {
    id: 'record',
    what: 'fields in front of each text, which say what it is or where it comes from',
    closes: 'next_mark',
    label: 'none',
    needs: 'nothing',
    examples: [
      `Source: a.md\nContent: ${rain}\n\nSource: b.md\nContent: ${sun}${ask}`,
      `**Source:** a.md\n**Content:** ${rain}\n\n**Source:** b.md\n**Content:** ${sun}${ask}`,
      `Title: A\nDescription: ${rain}\nURL: https://a.example\n\nTitle: B\nDescription: ${sun}\nURL: https://b.example\n\nQuestion: why?`,
      `Title: A\nURL: https://a.example\n\n${rain}\n\nTitle: B\nURL: https://b.example\n\n${sun}${ask}`,
      `SourceDocName: A\nSourceDocLink: https://a.example\nContents: ${rain}\n\nSourceDocName: B\nSourceDocLink: https://b.example\nContents: ${sun}${ask}`,
      `Source ID: 7\nArticle Title: A\n${rain}\n\nSource ID: 9\nArticle Title: B\n${sun}${ask}`,
      `file_path: a.md\n\n${rain}\n\nfile_path: b.md\n\n${sun}${ask}`,
      `Information: "Source: a.md\nTitle: A\nContent: ${rain}\n\nSource: b.md\nTitle: B\nContent: ${sun}\n"\n---\nAnswer.`,
      `- Use this context: Filename: a.md\nSource: 0\n${rain}\n\nFilename: b.md\nSource: 1\n${sun}\n- Be brief: yes\n\nTask: why?`,
      `Here is the knowledge base:\n\nID: 0\n├── Title: a\n├── URL: u\n└── Content:\n${rain}\n\n------\n\n\nID: 1\n├── Title: b\n├── URL: v\n└── Content:\n${sun}\nThe above is the knowledge base.`,
    ],
    alike: [`Title: A\nAuthor: B\n${rain}\n\nTitle: C\nAuthor: D\n${sun}`],
  },
  {
    id: 'credited',
    what: 'a text with fields behind it that say where it comes from',
    closes: 'itself',
    label: 'none',
    needs: 'nothing',
    examples: [
      `=====\nContent: ${rain}\nSource: a.md\n\nContent: ${sun}\nSource: b.md\n=====\nAnswer:`,
      `<br><b>Content from a.md (Page 1): </b> ${rain} \n<br><br><b>Content from b.md (Page 4): </b> ${sun} \n<br>${ask}`,
    ],
    alike: [`Content: ${rain}\nMood: dull\n\nContent: ${sun}\nMood: fine`],
  },
  {
    id: 'closed',
    what: 'marks that open and close each block, and say so',
    closes: 'itself',
    label: 'position',
    needs: 'nothing',
    examples: [
      `[webpage 1 begin]${rain}[webpage 1 end]\n[webpage 2 begin]${sun}[webpage 2 end]${ask}`,
      `<<<BEGIN DOCUMENT 1>>>\n${rain}\n<<<END DOCUMENT 1>>>\n<<<BEGIN DOCUMENT 2>>>\n${sun}\n<<<END DOCUMENT 2>>>${ask}`,
      `--- START OF SOURCE 1 ---\n${rain}\n--- END OF SOURCE 1 ---\n--- START OF SOURCE 2 ---\n${sun}\n--- END OF SOURCE 2 ---${ask}`,
      `[file name]: a.md\n[file content begin]\n${rain}\n[file content end]\n[file name]: b.md\n[file content begin]\n${sun}\n[file content end]\nWhy?`,
      `<|start_of_role|>document {"document_id": "1"}<|end_of_role|>\n${rain}<|end_of_text|>\n<|start_of_role|>document {"document_id": "2"}<|end_of_role|>\n${sun}<|end_of_text|>\n`,
    ],
    alike: [
      `[step 1 begin]${rain}[step 1 end]\n[step 2 begin]${sun}[step 2 end]${ask}`,
      `[document 1 begin]${rain}[document 1 end]\nThen:\n[document 2 begin]${sun}[document 2 end]${ask}`,
      `[file name]: 01-a.md\n[file content begin]\n${rain}\n[file content end]\n[file name]: 02-b.md\n[file content begin]\n${sun}\n[file content end]\nWhy?`,
    ],
  },
  {
    id: 'keyed',
    what: 'texts with their keys in front, of which a line below them lists the keys',
    closes: 'next_mark',
    label: 'none',
    needs: 'nothing',
    examples: [
      `Context:\n\na2020 pages 1-2: ${rain}\nFrom A. 2020.\n\nb2021 pages 3-4: ${sun}\nFrom B. 2021.\n\nValid Keys: a2020 pages 1-2, b2021 pages 3-4${ask}`,
    ],
    alike: [
      `Context:\n\na2020: ${rain}\nFrom A. 2020.\n\nb2021: ${sun}\nFrom B. 2021.${ask}`,
      `Context:\n\na2020: ${rain}\n\nb2021: ${sun}\n\nValid Keys: a2020, b2021${ask}`,
    ],
  },
  {
    id: 'tag',
    what: 'an element around each block',
    closes: 'itself',
    label: 'position',
    needs: 'nothing',
    examples: [
      `<document index="1">${rain}</document>\n<document index="2">${sun}</document>\n\nWhy?`,
      `<Cites>\n<Cite>${rain}</Cite>\n<Cite>${sun}</Cite>\n</Cites>${ask}`,
      `<contents><content>${rain}</content>\n<content>${sun}</content></contents>\n\nWhy?`,
      `已知信息：\n<data>${rain}</data>\n<data>${sun}</data>\n避免提及<data></data>\n问题：\n为什么？`,
      `Task.\n\n<file_content path="src/a.md">\n${rain}\n</file_content>\n\n<file_content path="src/b.md">\n${sun}\n</file_content>`,
    ],
    alike: [
      `<turn>${rain}</turn>\n<turn>${sun}</turn>\n\nWhy?`,
      `<citations>\n<document>${rain}</document>\n<document>${sun}</document>\n</citations>\n\nWhy?`,
      `<examples>\n<document>${rain}</document>\n<document>${sun}</document>\n</examples>\n\nWhy?`,
    ],
  },
  {
    id: 'json',
    what: 'an array of objects, or of texts below a line that announces them',
    closes: 'itself',
    label: 'position',
    needs: 'two_kinds',
    examples: [
      JSON.stringify({
        results: [
          { url: 'a', content: rain },
          { url: 'b', content: sun },
        ],
      }),
      JSON.stringify([
        { text: rain, similarity: 0.9 },
        { text: sun, similarity: 0.8 },
      ]),
      `## References:\n\`\`\`json\n${JSON.stringify([
        { id: 1, content: rain, url: 'a' },
        { id: 2, content: sun, url: 'b' },
      ])}\n\`\`\`${ask}`,
      `-----Document Chunks(DC)-----\n\`\`\`json\n${JSON.stringify({ content: rain })}\n${JSON.stringify({ content: sun })}\n\`\`\`${ask}`,
      `Here are some documents:\n${JSON.stringify({
        documents: [
          { document: 1, date: '2026', content: rain },
          { document: 2, date: '2025', content: sun },
        ],
      })}`,
    ],
    alike: [
      `Here is the log:\n${JSON.stringify({ content: rain })}\n${JSON.stringify({ content: sun })}${ask}`,
      `Entities:\n\`\`\`json\n${JSON.stringify({ entity: 'a', description: rain })}\n${JSON.stringify({ entity: 'b', description: sun })}\n\`\`\`${ask}`,
      JSON.stringify({ chunks: [{ text: rain }, { text: sun }] }),
      JSON.stringify({
        results: [
          { text: rain, score: 0.9 },
          { text: sun, score: 0.8 },
        ],
      }),
      `Return this:\n\`\`\`json\n${JSON.stringify([
        { id: 1, content: rain, url: 'a' },
        { id: 2, content: sun, url: 'b' },
      ])}\n\`\`\`${ask}`,
      JSON.stringify([
        { page: 1, text: rain },
        { page: 2, text: sun },
      ]),
      JSON.stringify({
        results: [
          { role: 'user', text: rain, score: 1 },
          { role: 'bot', text: sun, score: 1 },
        ],
      }),
    ],
  },
  {
    id: 'memories',
    what: 'bullets below a line that says that they are what is known of somebody',
    closes: 'line',
    label: 'none',
    needs: 'two_kinds',
    examples: [`User Memories:\n- Owns a boat\n- Likes tea\n`, `<FACTS>\n  - Owns a boat\n  - Likes tea\n</FACTS>\n`],
    alike: [
      `Call \`search_memories\` with:\n- \`query\`\n- \`limit\`\n`,
      `## Memories\n- **add**: adds\n- **get**: gets\n`,
    ],
  },
  {
    id: 'rules',
    what: 'lines of `---` or `===` between blocks that are announced',
    closes: 'separator',
    label: 'none',
    needs: 'two_kinds',
    examples: [
      `Documents:\n\n${rain}\n\n---\n\n${sun}\n\n---\n\nThe end.${ask}`.replace('\n\n---\n\nThe end.', '\n\n---'),
    ],
    alike: [
      `<Notes>\n${rain}\n------\n${sun}\n</Notes>${ask}`,
      `Context:\n${rain}\n\n----------------\nTERMS\n----------------\n\n${sun}${ask}`,
      `Context:\n# A\n\n${rain}\n\n---\n\n## B\n\n${sun}\n\n---\n\n## C\n\nEnd.${ask}`,
    ],
  },
  {
    id: 'quoted',
    what: 'texts between three quotes, below the same words',
    closes: 'itself',
    label: 'none',
    needs: 'nothing',
    examples: [`Use the articles.\n\nArticle section:\n"""\n${rain}\n"""\n\nArticle section:\n"""\n${sun}\n"""${ask}`],
    alike: [`Say:\n"""\n${rain}\n"""\n\nThen:\n"""\n${sun}\n"""${ask}`],
  },
  {
    id: 'fenced',
    what: 'fenced texts below their paths, of different files, with nothing between',
    closes: 'itself',
    label: 'name',
    needs: 'one_more',
    examples: [
      `I added these files to the chat.\n\nsrc/a.md\n\`\`\`\n${rain}\n\`\`\`\n\nsrc/b.md\n\`\`\`\n${sun}\n\`\`\`\n`,
    ],
    alike: [
      `First change these files.\n\nsrc/a.md\n\`\`\`\n${rain}\n\`\`\`\n\nThen:\n\nsrc/b.md\n\`\`\`\n${sun}\n\`\`\`\n`,
    ],
  },
  {
    id: 'sourced',
    what: 'fenced texts below headings that say where each is from',
    closes: 'itself',
    label: 'none',
    needs: 'nothing',
    examples: [
      `# Knowledge Base\n\n## The content from [a.md]:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The content from [b.md]:\n\n\`\`\`\n${sun}\n\`\`\``,
      `## 来自 [文件](a.md) 的内容：\n\n\`\`\`\n${rain}\n\`\`\`\n\n## 来自 [文件](b.md) 的内容：\n\n\`\`\`\n${sun}\n\`\`\``,
    ],
    alike: [
      `## The first step:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The next step:\n\n\`\`\`\n${sun}\n\`\`\``,
      `## The content from [01-a.md]:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The content from [02-b.md]:\n\n\`\`\`\n${sun}\n\`\`\``,
    ],
  },
]
