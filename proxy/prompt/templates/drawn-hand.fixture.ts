import { type Documents, list, type Template, toTemplates } from './template.fixture.ts'

/* The half of drawn.fixture.ts that developers write by hand, in several languages. */

const percent = (score: number): string => `${Math.round(score * 100)} %`

/** Documents and question in one user message. */
const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  'document and id in brackets, closed by the next': (docs, q) =>
    `Answer the question using only the documents below. If the answer is not there, say so.\n\n${list(docs, (d) => `[doc_id: ${d.id}]\n${d.text}`)}\n\nQuestion: ${q}`,
  'relevant snippets, numbers and file in parentheses': (docs, q) =>
    `Relevant snippets from our handbook:\n\n${list(docs, (d, n) => `${n}. (${d.file}) ${d.text}`)}\n\nUser question: ${q}\nAnswer in two sentences.`,
  'chunks with equals signs': (docs, q) =>
    `CONTEXT\n${list(docs, (d, n) => `==== CHUNK ${n} ====\n${d.text}`, '\n')}\n==== END OF CONTEXT ====\n\nQUESTION: ${q}`,
  'knowledge base articles with title': (docs, q) =>
    `Here are articles from our knowledge base that may help:\n\n${list(docs, (d) => `### ${d.title}\n${d.url}\n\n${d.text}`)}\n\nCustomer's question: ${q}`,
  'tags with a number in their name': (docs, q) =>
    `${list(docs, (d, n) => `<source_${n}>\n${d.text}\n</source_${n}>`, '\n')}\n\nUsing the sources above, answer: ${q}`,
  'context in tags, numbers in brackets': (docs, q) =>
    `<context>\n${list(docs, (d, n) => `[${n}] ${d.text}`)}\n</context>\n\nAnswer the question from the context and cite as [n].\n<question>${q}</question>`,
  'url behind each text in angle brackets': (docs, q) =>
    `Search results:\n\n${list(docs, (d) => `${d.text}\n<${d.url}>`)}\n\nUse the search results to answer: ${q}`,
  'score and text in lines of their own': (docs, q) =>
    `Retrieved context:\n\n${list(docs, (d) => `(score=${d.score}) ${d.text}`)}\n\nAnswer from the retrieved context: ${q}`,
  'markdown quotes': (docs, q) =>
    `Excerpts from the documentation:\n\n${list(docs, (d) => `**${d.file}**\n\n${d.text.replaceAll(/^/gm, '> ')}`)}\n\nQuestion: ${q}`,
  'file and content as fields': (docs, q) =>
    `Context documents:\n\n${list(docs, (d) => `FILE: ${d.file}\nCONTENT: ${d.text}`)}\n\nUSER QUESTION: ${q}`,
  'sources lettered': (docs, q) =>
    `Use the sources to answer and cite them by letter.\n\n${list(docs, (d, n) => `Source ${'ABCDE'[n - 1]}: ${d.text}`)}\n\nQuestion: ${q}`,
  'python list of dicts': (docs, q) =>
    `Context: [${list(docs, (d) => `{'text': ${JSON.stringify(d.text)}, 'source': '${d.file}'}`, ', ')}]\n\nQuestion: ${q}`,
  'German, sources with page': (docs, q) =>
    `Beantworte die Frage ausschließlich anhand der folgenden Auszüge.\n\n${list(docs, (d, n) => `Auszug ${n} (${d.file}, S. ${d.page}):\n${d.text}`)}\n\nFrage: ${q}`,
  'German, context with rules': (docs, q) =>
    `Kontext:\n${list(docs, (d) => `Quelle: ${d.file}\nInhalt: ${d.text}`, '\n---\n')}\n\nFrage: ${q}\nAntwort:`,
  'French, documents with score': (docs, q) =>
    `Voici les documents pertinents :\n\n${list(docs, (d, n) => `[Document ${n} - ${d.title} - pertinence ${percent(d.score)}]\n${d.text}`)}\n\nRéponds à la question en citant les documents : ${q}`,
  'Spanish, context in elements': (docs, q) =>
    `Responde usando solo el contexto.\n\n<contexto>\n${list(docs, (d, n) => `<documento id="${n}" titulo="${d.title}">\n${d.text}\n</documento>`, '\n')}\n</contexto>\n\nPregunta: ${q}`,
  'Portuguese, excerpts with rules': (docs, q) =>
    `Use os trechos abaixo para responder à pergunta.\n\n${list(docs, (d, n) => `--- Trecho ${n} (${d.file}) ---\n${d.text}`)}\n\nPergunta: ${q}\nResposta:`,
  'Italian, sources in brackets': (docs, q) =>
    `Rispondi alla domanda basandoti sulle fonti seguenti.\n\n${list(docs, (d, n) => `[Fonte ${n}] ${d.text}`)}\n\nDomanda: ${q}`,
  'Polish, fragments': (docs, q) =>
    `Odpowiedz na pytanie na podstawie poniższych fragmentów.\n\n${list(docs, (d, n) => `Fragment ${n} (źródło: ${d.file}):\n${d.text}`)}\n\nPytanie: ${q}`,
  'Dutch, documents': (docs, q) =>
    `Gebruik de volgende documenten om de vraag te beantwoorden.\n\n${list(docs, (d, n) => `Document ${n}: ${d.title}\n${d.text}`)}\n\nVraag: ${q}`,
  'Chinese, known information with numbers': (docs, q) =>
    `请根据以下已知信息回答问题，并用[n]标注引用。\n\n已知信息：\n${list(docs, (d, n) => `[${n}] ${d.text}`, '\n')}\n\n问题：${q}`,
  'Chinese, document name and content': (docs, q) =>
    `检索到的资料如下：\n\n${list(docs, (d) => `文档名称：${d.file}\n内容：${d.text}`)}\n\n请回答用户的问题：${q}`,
  'Japanese, documents in headings': (docs, q) =>
    `以下の資料だけを使って質問に答えてください。\n\n${list(docs, (d, n) => `## 資料${n}（${d.file}）\n${d.text}`)}\n\n質問：${q}`,
  'Korean, reference documents': (docs, q) =>
    `다음 참고 문서를 바탕으로 질문에 답하세요.\n\n${list(docs, (d, n) => `[참고 문서 ${n}] ${d.title}\n${d.text}`)}\n\n질문: ${q}`,
}

/** Documents in the system prompt, the question after it. */
const told: Readonly<Record<string, (documents: Documents) => string>> = {
  'title in bold and text, under a heading': (docs) =>
    `You are the assistant of our docs.\n\n## Relevant documentation\n\n${list(docs, (d) => `**${d.title}** (${d.url})\n${d.text}`)}\n\n## Rules\n\nAnswer only from the documentation.`,
  'memories as elements': (docs) =>
    `You know this user.\n\n<memories>\n${list(docs, (d) => `<memory id="${d.id}" relevance="${d.score}">${d.text}</memory>`, '\n')}\n</memories>\n\nUse what helps.`,
}

export const drawnByHand: readonly Template[] = toTemplates({ asked, told })
