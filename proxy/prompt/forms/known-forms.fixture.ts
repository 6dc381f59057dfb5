import { ask, type Form, rain, sun } from './form.fixture.ts'
import { labelForm } from './label-form.fixture.ts'

/**
 * All known forms. Lists of any other form are left alone, unless a user's pattern finds them. `readBy` names the sources
 * of each in the order in which they read. Before them, `scan/find-marks.ts` decides by a line's first sign who reads it.
 */
export const forms: readonly Form[] = [
  labelForm,
  {
    id: 'number',
    what: 'a number in brackets in front of each block, counting up',
    closes: 'next_mark',
    label: 'position',
    needs: 'one_more',
    readBy: ['scan/labels/find-labels.ts', 'forms/headed/find-labelled-lists.ts'],
    examples: [
      `[1] ${rain}\n[2] ${sun}${ask}`,
      `Gathered information:\n[1]: ${rain}\n[2]: ${sun}${ask}`,
      `参考资料：\n【1】巴黎是法国的首都。\n【2】柏林是德国的首都。\n\n问题：法国的首都是哪里？`,
      `Sources:\n[#1] ${rain}\n[#2] ${sun}${ask}`,
      `[[ ## context ## ]]\n[1] «${rain}»\n[2] «««\n${sun}\n»»»\n\n[[ ## question ## ]]\nWhy?`,
    ],
    alike: [
      `[1] ${rain}\n[2] ${sun}`,
      `Steps:\n[[1]] ${rain}\n[[2]] ${sun}${ask}`,
      `How is the oil changed?\n\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `Context:\n[1] ${rain}\n[2] ${sun}\n[3] ${rain}${ask}`,
      `Do this:\n\n1. Open: the door\n   URL: https://a.example\n   ${rain}\n\n2. Close: the door\n   URL: https://b.example\n   ${sun}`,
      `## References\n\n1. Oslo. https://a.example\n2. Rome. https://b.example${ask}`,
      `Sources:\n\n1. ${rain}\nIt went on.\n\n2. ${sun}\nIt went on.${ask}`,
      `Do this:\n\n1. (notes/a.md) ${rain}\n\n2. (notes/b.md) ${sun}${ask}`,
      `== References ==\n[1] - https://a.example\n\n[2] - https://b.example${ask}`,
    ],
  },
  {
    id: 'record',
    what: 'fields in front of each text, which say what it is or where it comes from',
    closes: 'next_mark',
    label: 'none',
    needs: 'one_more',
    readBy: ['scan/labels/find-record-head.ts', 'forms/headed/find-labelled-lists.ts'],
    examples: [
      `Source: a.md\nContent: ${rain}\n\nSource: b.md\nContent: ${sun}${ask}`,
      `**Source:** a.md\n**Content:** ${rain}\n\n**Source:** b.md\n**Content:** ${sun}${ask}`,
      `Title: A\nDescription: ${rain}\nURL: https://a.example\n\nTitle: B\nDescription: ${sun}\nURL: https://b.example\n\nQuestion: why?`,
      `Title: A\nURL: https://a.example\n\n${rain}\n\nTitle: B\nURL: https://b.example\n\n${sun}${ask}`,
      `SourceDocName: A\nSourceDocLink: https://a.example\nContents: ${rain}\n\nSourceDocName: B\nSourceDocLink: https://b.example\nContents: ${sun}${ask}`,
      `file_path: a.md\n\n${rain}\n\nfile_path: b.md\n\n${sun}${ask}`,
      `检索到的资料如下：\n\n文档名称：a.md\n内容：${rain}\n\n文档名称：b.md\n内容：${sun}\n\n问题：为什么？`,
      `Information: "Source: a.md\nTitle: A\nContent: ${rain}\n\nSource: b.md\nTitle: B\nContent: ${sun}\n"\n---\nAnswer.`,
      `- Use this context: Filename: a.md\nSource: 0\n${rain}\n\nFilename: b.md\nSource: 1\n${sun}\n- Be brief: yes\n\nTask: why?`,
      `Here is the knowledge base:\n\nID: 0\n├── Title: a\n├── URL: u\n└── Content:\n${rain}\n\n------\n\n\nID: 1\n├── Title: b\n├── URL: v\n└── Content:\n${sun}\nThe above is the knowledge base.`,
    ],
    alike: [
      `Title: A\nAuthor: B\n${rain}\n\nTitle: C\nAuthor: D\n${sun}`,
      `Title: A\nContent: ${rain}\n\nTitle: B\nContent: ${sun}\n\nWhy?`,
      `Published: 2024-05-02\nTitle: A\nContent: ${rain}\n\nPublished: 2021-01-02\nTitle: B\nContent: ${sun}${ask}`,
      `    Name: Oslo\n    Value: ${rain}\n    Mood: dull\n    -----\n    Name: Rome\n    Value: ${sun}\n    Mood: fine\n    -----${ask}`,
      `    Name: Oslo\n    Value: ${rain}\n    Link: a\n    -----\n    Name: Rome\n    Value: ${sun}\n    -----\n    Link: b\n    -----${ask}`,
      `## Steps ##\na-3.pdf:${rain}\rb-9.pdf:${sun}\n## End ##${ask}`,
      `## Source ##\na-3.pdf:${rain}\rThen: ${sun}\n## End ##${ask}`,
      `## Source ##\na-3.pdf:${rain}\rb-9.pdf:${sun}\nSo.\rIt was.${ask}`,
      `    Step: Oslo\n    Value: ${rain}\n    Link: a\n    -----\n    Step: Rome\n    Value: ${sun}\n    Link: b\n    -----${ask}`,
      `My shelves:\n\nshelf: 3\nitem: Oslo\ncontent: ${rain}\n\nshelf: 4\nitem: Rome\ncontent: ${sun}`,
      `Use this documentation:\n\nstep: 1\nitem: a\ncontent: ${rain}\n\nstep: 2\nitem: b\ncontent: ${sun}${ask}`,
      `Use this documentation:\n\nuser: a\nroom: b\ntext: ${rain}\n\nuser: c\nroom: b\ntext: ${sun}${ask}`,
    ],
  },
  {
    id: 'credited',
    what: 'a text with fields behind it that say where it comes from',
    closes: 'itself',
    label: 'none',
    needs: 'one_more',
    readBy: ['forms/headed/find-credited-lists.ts', 'forms/enclosed/find-quoted-lists.ts'],
    examples: [
      `=====\nContent: ${rain}\nSource: a.md\n\nContent: ${sun}\nSource: b.md\n=====\nAnswer:`,
      `<br><b>Content from a.md (Page 1): </b> ${rain} \n<br><br><b>Content from b.md (Page 4): </b> ${sun} \n<br>${ask}`,
    ],
    alike: [
      `Notes of today:\n${rain}\n<https://a.example>\n\n${sun}\n<https://b.example>${ask}`,
      `Notes of today:\n${rain}\n(Source: a.md)\n\n${sun}\n(Source: b.md)${ask}`,
      `The chart:\n\n            text: ${rain}\n            source: a.md\n\n            text: ${sun}\n            source: b.md\n${ask}`,
      `Content: ${rain}\nMood: dull\n\nContent: ${sun}\nMood: fine`,
    ],
  },
  {
    id: 'tag',
    what: 'an element around each block',
    closes: 'itself',
    label: 'position',
    needs: 'one_more',
    readBy: ['scan/find-tags.ts', 'forms/enclosed/find-tag-lists.ts'],
    examples: [
      `<document index="1">${rain}</document>\n<document index="2">${sun}</document>\n\nWhy?`,
      `<Cites>\n<Cite>${rain}</Cite>\n<Cite>${sun}</Cite>\n</Cites>${ask}`,
      `<searchResults>\n<searchResult>${rain}</searchResult>\n<searchResult>${sun}</searchResult>\n</searchResults>${ask}`,
      `<searchResults>\n  <item title="Oslo" url="a">${rain}</item>\n  <item title="Rome" url="b">${sun}</item>\n</searchResults>`,
      `Passages:\n<passage source="a.md" page="3">${rain}</passage>\n<passage source="b.md" page="9">${sun}</passage>${ask}`,
      `<contents><content>${rain}</content>\n<content>${sun}</content></contents>\n\nWhy?`,
      `已知信息：\n<data>${rain}</data>\n<data>${sun}</data>\n避免提及<data></data>\n问题：\n为什么？`,
      `Task.\n\n<file_content path="src/a.md">\n${rain}\n</file_content>\n\n<file_content path="src/b.md">\n${sun}\n</file_content>`,
    ],
    alike: [
      `<Document source="a.md"/>\n${rain}\n</Document>\n\n---\n\n<Document source="b.md"/>\n${sun}\n</Document>${ask}`,
      `<Document source="a.md"/>\n${rain}\n\n<Document source="b.md"/>\n${sun}${ask}`,
      `<menuItems>\n  <item title="Oslo" url="a">${rain}</item>\n  <item title="Rome" url="b">${sun}</item>\n</menuItems>`,
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
    readBy: ['scan/find-json-value.ts', 'forms/enclosed/find-json-lists.ts'],
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
    readBy: ['forms/lines/find-memory-lists.ts'],
    examples: [`User Memories:\n- Owns a boat\n- Likes tea\n`, `<FACTS>\n  - Owns a boat\n  - Likes tea\n</FACTS>\n`],
    alike: [
      `Call \`search_memories\` with:\n- \`query\`\n- \`limit\`\n`,
      `## Relevant notes\nThe following memories may help. Use them only if they fit.\n- Owns a boat\n- Likes tea\n`,
      `## Relevant memories\nThey may help. Use them only if they fit.\n- Owns a boat\n- Likes tea\n`,
      `## Memories\n- **add**: adds\n- **get**: gets\n`,
    ],
  },
  {
    id: 'quoted',
    what: 'texts between three quotes, below the same words',
    closes: 'itself',
    label: 'none',
    needs: 'one_more',
    readBy: ['forms/enclosed/find-quoted-lists.ts'],
    examples: [`Use the articles.\n\nArticle section:\n"""\n${rain}\n"""\n\nArticle section:\n"""\n${sun}\n"""${ask}`],
    alike: [`Say:\n"""\n${rain}\n"""\n\nThen:\n"""\n${sun}\n"""${ask}`],
  },
  {
    id: 'fenced',
    what: 'fenced texts below their paths, of different files, with nothing between',
    closes: 'itself',
    label: 'name',
    needs: 'one_more',
    readBy: ['scan/find-fences.ts', 'forms/enclosed/find-quoted-lists.ts'],
    examples: [
      `I added these files to the chat.\n\nsrc/a.md\n\`\`\`\n${rain}\n\`\`\`\n\nsrc/b.md\n\`\`\`\n${sun}\n\`\`\`\n`,
    ],
    alike: [
      `First change these files.\n\nsrc/a.md\n\`\`\`\n${rain}\n\`\`\`\n\nThen:\n\nsrc/b.md\n\`\`\`\n${sun}\n\`\`\`\n`,
    ],
  },
]
