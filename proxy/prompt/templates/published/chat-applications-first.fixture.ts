import { type Documents, list, type Template, toTemplates } from '../template.fixture.ts'

/*
 * Templates of chatbots and document assistants, no two of one repository as far as it is named,
 * drawn without a look at the finder. Their marks are exact, their sentences reworded. The finder was developed with
 * them since.
 */

const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  // Mallikarjun-1197/AskMyWiki utils/formatter.py
  'wiki chunks with view links': (docs, q) =>
    `You are an assistant who answers from the context below only.\n\n${list(
      docs,
      (d, n) => `Chunk ${n} (source: ${d.file}, section: ${d.title}):\n${d.text}\n🔗 [View Source](${d.url})`,
    )}\n\nQuestion:\n${q}\n\nAnswer briefly and clearly. Say so if the context does not suffice.\nUse Markdown for the response.\nList all URLs at its end.\n`,

  // The-Codebusters-Crew/ai-rag src/rag/buildprompt.ts
  'contexts as a numbered list': (docs, q) =>
    `Answer this question with the provided context.\n\nContext:\n${list(docs, (d, n) => `${n}. ${d.text}`, '\n')}\n\nQuestion: ${q}\n\nAnswer:`,

  // CodeJonesW/local-voice-assistant rag_prompt_builder.py
  'voice assistant, question then numbered chunks': (docs, q) =>
    [q, '\n\nRelevant information:', ...docs.map((d, i) => `[${i + 1}] ${d.text}`)].join('\n'),

  // SlimRAG/SlimRAG v1/prompt.go
  'Chinese knowledge fragments (Go)': (docs, q) =>
    `根据下面的知识，用中文回答问题：\n\n${docs.map((d, i) => `知识片段 ${i}：${d.text}\n\n`).join('')}问题：${q}`,

  // The-AI-Alliance/proscenium example/rag/prompts.py
  'chunks with ids and a period': (docs, q) =>
    `\nThese document chunks are the most similar to the query:\n\n${list(docs, (d) => `CHUNK ${d.id}. ${d.text}`)}\n\nQuestion:\n\n${q}\n\nAnswer:\n`,

  // GLOBAL-PALO-IT/th_PALO-LLM-Playground src/app/api/ragAgentic/prompt.ts
  'tags named by numbers': (docs, q) =>
    `<context>${docs.map((d, i) => `<${i}>${d.text}</${i}>`).join('')}</context>\n\nYou are a helpful bot which helps users to answer the question from the context in the <context> xml tags.\nRephrase the question, think step by step in English first, then answer in Thai\nQuestion: ${q}`,

  // Fatoutr2/Mini-RAG mini-rag-ui/backend/rag/prompt.py
  'French, kind and source in brackets': (docs, q) =>
    `\nTu es un assistant IA en entreprise.\nRéponds UNIQUEMENT à partir du contexte fourni.\nSi l'information manque, dis : "Information non disponible dans les documents".\n\nCONTEXTE:\n${list(
      docs,
      (d) => `[pdf | ${d.file}]\n${d.text}`,
    )}\n\nQUESTION:\n${q}\n\nRÉPONSE:\n`,

  // Morenito03/tesis services/prompt.py
  'Spanish medical registers between rules': (docs, q) =>
    `\n\nEres un asistente médico especializado.\n\nIMPORTANTE:\n- CONS significa consultorio.\n- SOLO responde con la información de los documentos.\n- NO inventes datos.\n\n\nDOCUMENTOS DISPONIBLES:\n${docs
      .map(
        (d) =>
          `\n==============================\nDOCUMENTO: ${d.title}\n\nEste documento es un REGISTRO DIARIO DE GBT.\nEl TOTAL GENERAL está en la hoja CONSOLIDADO.\n\nCONTENIDO:\n${d.text}\n==============================\n`,
      )
      .join('')}\n\nPREGUNTA DEL USUARIO:\n${q}\n\nRESPUESTA:\n`,

  // hongdangn/jr-multimodal-app prompt.py
  'Japanese, question then related contexts': (docs, q) =>
    `\n        あなたは優れた質問応答システムです。\n        「質問」と「文脈（コンテキスト）」が与えられますので、\n        文脈に基づいて答えてください。\n        関連しない文脈は無視してください。\n        文脈に答えがない場合は、「答えがわかりません」と返してください。\n        \n        質問：${q}\n    ${docs
      .map((d, i) => `\n こちらは関連する文脈 ${i} です：${d.text}`)
      .join('')}`,

  // ducnghia0509/RAGVoicebot prompt/builder.py
  'Vietnamese law, bold sources': (docs, q) =>
    `Context:\n${list(docs, (d, n) => `**Nguồn ${n}:** Luật - ${d.id} - ${d.title}\n${d.text}`)}\n\nCâu hỏi: ${q}`,

  // rtr-ai/aia-rag llm-service/src/utils/prompt_utils.py
  'German, score above each chunk': (docs, q) =>
    `\nUnten stehen Kontextinformationen.\n${list(docs, (d) => `Score: ${d.score}\n${d.text}`, '\n')}\nBeantworte die Frage auf Grundlage der Kontextinformationen und ohne Vorwissen. Ohne relevante Informationen antworte leer.\nAntworte in der Sprache der Anfrage.\nAnfrage: ${q}\nAntwort:\n`,

  // alexandrkolosov/personal-rag-agent lib/prompt.ts
  'hash headings with piped fields, one line each': (docs, q) =>
    `CONTEXT CHUNKS:\n${list(
      docs,
      (d, n) =>
        `# Chunk ${n} | doc:${d.id.slice(0, 8)} | idx:${d.page} | sim:${d.score.toFixed(3)}\n${d.text.replaceAll(/\s+/g, ' ').slice(0, 1500)}`,
    )}\n\n---\n\nUSER QUESTION:\n${q}\n\nINSTRUCTIONS:\nReturn JSON as the system prompt says. Use ONLY the information of the chunks above.`,

  // hamr0/multis src/llm/prompts.js
  'personal assistant, document rules with fields': (docs, q) =>
    `${list(docs, (d, n) => `--- Document ${n} [${d.file}, ${d.title}, page ${d.page}] ---\n${d.text}`)}\n\n---\nQuestion: ${q}`,

  // arya232006/AgoraLearn- utils/prompt.ts
  'study assistant, sources with doc ids': (docs, q) =>
    `You are a friendly study assistant. Reply with helpful information. Use the provided context if it is relevant, or your own knowledge.\n\nCONTEXT:\n${list(
      docs,
      (d, n) => `Source ${n} (doc: ${d.id}):\n${d.text}`,
    )}\n\nQUESTION: ${q}\n\nIf the question asks for a summary of notes, write 2-4 sentences from the context. Wrap formulas in $...$.`,

  // joelrorseth/RAG-TheoremQA src/prompting/rag.py
  'theorem questions, sources under dashes': (docs, q) =>
    `QUESTION:\n----\n${q}\n\n${list(docs, (d, n) => `SOURCE ${n}:\n----\n${d.text}\n`, '\n')}\n----\nANSWER: `,

  // Legend11235/risk-rag-copilot src/risk_rag_copilot/prompts.py
  'bank risk rules, source tag and file in line': (docs, q) =>
    `You are an assistant of Group Risk Management. Use ONLY the Context below.\nIf it is insufficient, reply: 'Insufficient context to answer.'\nRules:\n - Cite with the numbered tags of the Context (e.g., [Source 1], [Source 2]).\n - Do not invent sources.\n\nContext:\n${list(
      docs,
      (d, n) => `[Source ${n}] (${d.file}) ${d.text}`,
    )}\n\nQuestion: ${q}\nAnswer:`,

  // rainbowyuyu/LLM RAG/rag.py
  'Chinese materials in brackets': (docs, q) =>
    `你是严谨的助手。\n请只根据以下资料回答问题，不要编造。\n\n${list(docs, (d, n) => `[资料${n}]\n${d.text}`)}\n\n问题：${q}`,

  // dibacdemir/code-four-wisconsin-law-enf-rag-system src/generation/prompts.py
  'state law sources with piped brackets': (docs, q) =>
    `From the following Wisconsin legal sources, answer the question of the officer.\n\nSOURCES:\n${list(
      docs,
      (d) => `[Source: ${d.file} | Type: statute | Section: ${d.id}]\n${d.text}`,
      '\n\n---\n\n',
    )}\n\nQUESTION: ${q}\n`,

  // JDoy5519/faqbot src/lib/prompt.ts
  'FAQ bot, double brackets': (docs, q) =>
    `INSTRUCTIONS:\nYou are a friendly, precise FAQ assistant of a UK business.\nAnswer only with the CONTEXT below. If the answer is not clearly there, say:\n"I’m not sure from our FAQ. Shall I pass this on to a human?"\nBe concise, no speculation.\n\nCONTEXT:\n${list(
      docs,
      (d, n) => `[[Chunk ${n}]]\n${d.text}`,
    )}\n\nQUESTION:\n${q}\n\nFINAL ANSWER (UK English, concise):`,

  // sumanththota/handbook-rag-golang internal/rag/service.go
  'handbook pages with a colon (Go)': (docs, q) =>
    `Context (retrieved from handbook):\n\t${docs.map((d) => `[Page ${d.page}]: ${d.text}\n\n`).join('')}\n\t\n\t---\n\t\n\tQuestion: ${q}\n\t\n\tThink of this before you respond:\n\t1. Is this a casual question that needs no handbook?\n\t2. Does the context hold a clear answer?\n\t\n\tThen respond in this format:\n\t\n\t[Your response. Append a citation like (Section X.X, p.N) only if needed.]\n\t`,

  // danubiobwm/chatbot-rag-go internal/usecase/rag_query.go
  'Portuguese, chunks as bullets (Go)': (docs, q) =>
    `Responda só com base no contexto abaixo. Se não souber, diga que não encontrou.\n\nContexto:\n${docs.map((d) => `- ${d.text}\n`).join('')}\nPergunta: ${q}`,

  // Mr-IR0k-oo1/RAG-RUST-EDITION- src/rag/prompt.rs
  'sources and question between rules (Rust)': (docs, q) =>
    `Answer the question from the provided context.\n\nContext:\n${docs
      .map((d, i) => `--- Source ${i + 1} (relevance: ${d.score.toFixed(2)}) ---\n${d.text}\n`)
      .join('')}\n--- Question ---\n${q}\n\nAnswer:`,

  // EmundLiljestrand/dotnet-rag-api RagApi/Services/PromptBuilder.cs
  'numbered lines in a context tag (C#)': (docs, q) =>
    `<context>\n${docs.map((d, i) => `[${i + 1}] ${d.text}\n`).join('')}</context>\n\nQuestion: ${q}`,

  // AmrElsherif83/dotnet-rag-sample src/RAG.Core/Services/RagService.cs
  'bracketed sources with a colon (C#)': (docs, q) =>
    `You are a helpful assistant. Answer the question from the following context. If it lacks the information, say so.\n\nContext:\n${list(
      docs,
      (d, n) => `[Source ${n}]: ${d.text}`,
    )}\n\nQuestion: ${q}\n\nAnswer:`,
}

export const chatApplicationsFirst: readonly Template[] = toTemplates({ asked })
