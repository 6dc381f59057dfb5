import { ask, type Form, rain, sun } from './form.ts'
import { labelForm } from './label-form.ts'

/** All forms. A list of any other is left alone, unless a pattern of the user's finds it. */
export const forms: readonly Form[] = [
  labelForm,
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
      `Search results:\n\n1. Title: Oslo\n   Link: https://a.example\n   Snippet: ${rain}\n\n2. Title: Rome\n   Link: https://b.example\n   Snippet: ${sun}${ask}`,
      `Search results:\n\n1. [WEB] Oslo\n   URL: https://a.example\n   ${rain}\n\n2. [WEB] Rome\n   URL: https://b.example\n   ${sun}${ask}`,
      `Search results:\n\n1. **Oslo** (https://a.example)\n${rain}\n\n2. **Rome** (https://b.example)\n${sun}${ask}`,
      `Use these documents:\n\n1. {'source': 'a.md'}\n${rain}\n\n2. {'source': 'b.md'}\n${sun}${ask}`,
      `Sources:\n[#1] ${rain}\n[#2] ${sun}${ask}`,
      `Sources:\n--- [1] a.md ---\n${rain}\n--- [2] b.md ---\n${sun}${ask}`,
      `[[ ## context ## ]]\n[1] «${rain}»\n[2] «««\n${sun}\n»»»\n\n[[ ## question ## ]]\nWhy?`,
    ],
    alike: [
      `[1] ${rain}\n[2] ${sun}`,
      `How is the oil changed?\n\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `Context:\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `Do this:\n\n1. Open: the door\n   URL: https://a.example\n   ${rain}\n\n2. Close: the door\n   URL: https://b.example\n   ${sun}`,
      `## References\n\n1. Oslo. https://a.example\n2. Rome. https://b.example${ask}`,
      `Sources:\n\n1. ${rain}\nIt went on.\n\n2. ${sun}\nIt went on.${ask}`,
      `== References ==\n[1] - https://a.example\n\n[2] - https://b.example${ask}`,
    ],
  },
  {
    id: 'record',
    what: 'fields in front of each text, which say what it is or where it comes from',
    closes: 'next_mark',
    label: 'none',
    needs: 'one_more',
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
    alike: [
      `Title: A\nAuthor: B\n${rain}\n\nTitle: C\nAuthor: D\n${sun}`,
      `Title: A\nContent: ${rain}\n\nTitle: B\nContent: ${sun}\n\nWhy?`,
    ],
  },
  {
    id: 'credited',
    what: 'a text with fields behind it that say where it comes from',
    closes: 'itself',
    label: 'none',
    needs: 'one_more',
    examples: [
      `=====\nContent: ${rain}\nSource: a.md\n\nContent: ${sun}\nSource: b.md\n=====\nAnswer:`,
      `<br><b>Content from a.md (Page 1): </b> ${rain} \n<br><br><b>Content from b.md (Page 4): </b> ${sun} \n<br>${ask}`,
      `Context:\n${rain}\n(Source: a.md)\n\n${sun}\n(Source: b.md)${ask}`,
    ],
    alike: [
      `Notes of today:\n${rain}\n(Source: a.md)\n\n${sun}\n(Source: b.md)${ask}`,
      `Content: ${rain}\nMood: dull\n\nContent: ${sun}\nMood: fine`,
    ],
  },
  {
    id: 'closed',
    what: 'marks that open and close each block, and say so',
    closes: 'itself',
    label: 'position',
    needs: 'one_more',
    examples: [
      `[webpage 1 begin]${rain}[webpage 1 end]\n[webpage 2 begin]${sun}[webpage 2 end]${ask}`,
      `<<<BEGIN DOCUMENT 1>>>\n${rain}\n<<<END DOCUMENT 1>>>\n<<<BEGIN DOCUMENT 2>>>\n${sun}\n<<<END DOCUMENT 2>>>${ask}`,
      `--- START OF SOURCE 1 ---\n${rain}\n--- END OF SOURCE 1 ---\n--- START OF SOURCE 2 ---\n${sun}\n--- END OF SOURCE 2 ---${ask}`,
      `[Document]\n${rain}\n[End]\n[Document]\n${sun}\n[End]${ask}`,
      `<|doc|>\n${rain}\n<|/doc|>\n<|doc|>\n${sun}\n<|/doc|>${ask}`,
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
    needs: 'one_more',
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
    needs: 'one_more',
    examples: [
      `<document index="1">${rain}</document>\n<document index="2">${sun}</document>\n\nWhy?`,
      `<Cites>\n<Cite>${rain}</Cite>\n<Cite>${sun}</Cite>\n</Cites>${ask}`,
      `<searchResults>\n<searchResult>${rain}</searchResult>\n<searchResult>${sun}</searchResult>\n</searchResults>${ask}`,
      `<contents><content>${rain}</content>\n<content>${sun}</content></contents>\n\nWhy?`,
      `已知信息：\n<data>${rain}</data>\n<data>${sun}</data>\n避免提及<data></data>\n问题：\n为什么？`,
      `<Document source="a.md"/>\n${rain}\n</Document>\n\n---\n\n<Document source="b.md"/>\n${sun}\n</Document>${ask}`,
      `Task.\n\n<file_content path="src/a.md">\n${rain}\n</file_content>\n\n<file_content path="src/b.md">\n${sun}\n</file_content>`,
    ],
    alike: [
      `<Document source="a.md"/>\n${rain}\n\n<Document source="b.md"/>\n${sun}${ask}`,
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
      JSON.stringify(
        [rain, sun].map((pageContent) => ({ type: 'text', text: JSON.stringify({ pageContent, metadata: {} }) })),
      ),
      JSON.stringify([
        { text: rain, similarity: 0.9 },
        { text: sun, similarity: 0.8 },
      ]),
      `<Cites>\n${JSON.stringify({ content: rain }, null, 2)}\n------\n${JSON.stringify({ content: sun }, null, 2)}\n</Cites>${ask}`,
      `## Retrieved Documents\n${JSON.stringify({
        retrieved_documents: [{ '[doc1]': { content: rain } }, { '[doc2]': { content: sun } }],
      })}${ask}`,
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
      `<turns>\n${JSON.stringify({ content: rain }, null, 2)}\n------\n${JSON.stringify({ content: sun }, null, 2)}\n</turns>${ask}`,
      JSON.stringify({ steps: [{ '[step1]': { content: rain } }, { '[step2]': { content: sun } }] }),
      `Here is the log:\n${JSON.stringify({ content: rain })}\n${JSON.stringify({ content: sun })}${ask}`,
      `Entities:\n\`\`\`json\n${JSON.stringify({ entity: 'a', description: rain })}\n${JSON.stringify({ entity: 'b', description: sun })}\n\`\`\`${ask}`,
      JSON.stringify([rain, sun].map((said) => ({ type: 'text', text: JSON.stringify({ said, role: 'user' }) }))),
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
    id: 'items',
    what: 'bullets, numbers or rows of a table, one text each, below a line that says that they were retrieved',
    closes: 'line',
    label: 'position',
    needs: 'two_kinds',
    examples: [
      `Here are the relevant snippets:\n\n1. ${rain} Boats stayed in.\n2. ${sun} Boats went out.${ask}`,
      `documents:\n- title: Oslo\n  source: a.md\n  content: |\n    ${rain}\n- title: Rome\n  source: b.md\n  content: |\n    ${sun}${ask}`,
      `Search results:\n\n| # | Source | Text |\n|---|---|---|\n| 1 | a.md | ${rain} |\n| 2 | b.md | ${sun} |${ask}`,
    ],
    alike: [
      `Search results:\n\n| # | Town | Weather |\n|---|---|---|\n| 1 | Oslo | ${rain} |\n| 2 | Rome | ${sun} |${ask}`,
      `Search results:\n\n| Date | Source | Text |\n|---|---|---|\n| 1 May | a.md | ${rain} |\n| 2 May | b.md | ${sun} |${ask}`,
      `The table:\n\n| # | Source | Text |\n|---|---|---|\n| 1 | a.md | ${rain} |\n| 2 | b.md | ${sun} |${ask}`,
      `Here are the steps:\n\n1. ${rain} Boats stayed in.\n2. ${sun} Boats went out.${ask}`,
      `Documents:\n- ${rain} Boats stayed in.\n- ${sun} Boats went out.${ask}`,
      `jobs:\n- title: Oslo\n  source: a.md\n  content: |\n    ${rain}\n- title: Rome\n  source: b.md\n  content: |\n    ${sun}${ask}`,
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
    needs: 'one_more',
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
    needs: 'one_more',
    examples: [
      `# Knowledge Base\n\n## The content from [a.md]:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The content from [b.md]:\n\n\`\`\`\n${sun}\n\`\`\``,
      `# 知识库\n\n## 来自 [文件](a.md) 的内容：\n\n\`\`\`\n${rain}\n\`\`\`\n\n## 来自 [文件](b.md) 的内容：\n\n\`\`\`\n${sun}\n\`\`\``,
    ],
    alike: [
      `## The first step:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The next step:\n\n\`\`\`\n${sun}\n\`\`\``,
      `## The content from [01-a.md]:\n\n\`\`\`\n${rain}\n\`\`\`\n\n## The content from [02-b.md]:\n\n\`\`\`\n${sun}\n\`\`\``,
    ],
  },
]
