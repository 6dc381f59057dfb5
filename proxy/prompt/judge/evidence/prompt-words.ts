import { materialWords } from '../../scan/words/vocabulary.ts'

/* Words with which a prompt gives texts to its model and tells it to answer from them. */

/** Words that introduce given texts: `Use the following`, `Search results`. */
export const giving: RegExp =
  /\b(?:following|below|provided|given|retrieved|relevant|use|using|based (?:up)?on|from these|here (?:are|is)|these|added|attached|included|search(?:ed)?|found)\b|以下|下面|根据|使用|搜索|检索|検索|검색|gefunden|folgende|nachstehend|unten|anhand|suivante?s|ci-dessous|siguientes|a continuación|seguintes|abaixo|seguenti|di seguito|onderstaande|volgende|poniższ|następując|aşağıdaki|sau đây|dưới đây|được cung cấp|berikut|följande|nedan|seuraav|následující|níže|következő|alábbi|următoare|παρακάτω|ακόλουθ|التالي|أدناه|הבאים|להלן|निम्नलिखित|नीचे|ต่อไปนี้|ด้านล่าง|следующ|ниже|приведенн|приведённ|наступн|нижче|наведен|次の|다음|아래/iu

/** Words saying that something was retrieved, whatever it is called. */
export const retrieved: RegExp =
  /\bretrieved\b|检索到|檢索到|検索された|검색된|abgerufen|récupérée?s|recuperad[oa]s|recuperat[ie]|извлеч[её]нн/iu

const ANSWERING =
  /(?<!\p{L})(?:answers?|answering|respond|responses?|reply|beantwort\p{L}*|antwort\p{L}*|répond\p{L}*|réponses?|respond[ea]\p{L}*|respuestas?|contest[ae]\p{L}*|rispond\p{L}*|risposta|respost\p{L}*|beantwoord\p{L}*|antwoord\p{L}*|odpowie\p{L}*|отве[чт]\p{L}*|відпов\p{L}*|cevap\p{L}*|yanıt\p{L}*|svar\p{L}*|trả lời|jawab\p{L}*|vastaa\p{L}*|odpověz\p{L}*|válaszol\p{L}*|răspun\p{L}*|απάντησ\p{L}*|απαντ\p{L}*)(?!\p{L})|回答|作答|答案|答え|답변|답하|대답|أجب|الإجابة|उत्तर|ענה|ตอบ/iu
const MATERIAL = new RegExp(
  `${materialWords}|tài liệu|ngữ cảnh|dokumen|konteks|المستندات|السياق|المصادر|दस्तावेज़|संदर्भ`,
  'iu',
)
const SENTENCES = /[.!?。！？\n]+(?=\s|$)|[。！？\n]/u

/** Returns whether words mention answering. */
export function isAnswering(words: string): boolean {
  return ANSWERING.test(words)
}

/** Returns whether a sentence asks for an answer based on retrieved texts. */
export function isGrounded(words: string): boolean {
  if (!ANSWERING.test(words)) return false
  return words.split(SENTENCES).some((sentence) => ANSWERING.test(sentence) && MATERIAL.test(sentence))
}
