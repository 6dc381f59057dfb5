import { readLastNoun } from '../../answer/citations/citation-nouns.ts'
import { readCue } from '../scan/find-cue-line.ts'

/* What the end of a prompt says of the answer that begins there. */

/** Whether a plain prompt ends within a sentence of the answer: `Answer: According to document`. */
export function beginsAnswer(prompt: unknown): boolean {
  if (typeof prompt !== 'string') return false
  const cue = readCue(prompt, prompt.lastIndexOf('\n') + 1)
  return cue?.answer === true && !cue.empty && !/[.!?:。！？：][ \t]*$/.test(prompt)
}

// `Source used: [Doc`, `Most relevant document:`
const OPENED = /[[【][^\]】]{0,20}$/
const ANNOUNCED = /[:：#№][*_]{0,2} ?$/
// `Answer with sources:`
const OF_ANSWER = /(?<!\p{L})(?:with|using|use|based|from|mit|avec|con|com)(?!\p{L})|注明/iu

// `Doc ID:`, `Best:`, `证据：`
const CHOSEN =
  /(?:^|[^\p{L}])(?:best|ids?|index|indices|numbers?|no|nr|choices?|chosen|picks?|select(?:ed|ion)|winners?|match(?:es)?|hits?|evidence|used|cited|citations?|relevant|top|beste[rs]?|beleg|belege|auswahl|nummern?|preuves?|choix|numéros?|evidencias?|elección|números?|prove|scelta|numer[oi]|лучш\p{L}{2}|номера?)[^\p{L}]*$|证据|依据|编号|序号|选择|最佳|証拠|根拠|番号|근거|번호|선택/iu
const longestAnnouncement = 40

/** Whether a prompt ends where the name of a document is to follow, which may be a bare number. */
export function asksForName(prompt: unknown): boolean {
  if (typeof prompt !== 'string') return false
  const line = lastLine(prompt)
  if (OPENED.test(line)) return true
  if (!ANNOUNCED.test(line)) return false
  if (!OF_ANSWER.test(line) && readLastNoun(line.replace(ANNOUNCED, ''))?.use === 'citing') return true
  return line.length <= longestAnnouncement && CHOSEN.test(line)
}

// `Scores:`, `Ranking:`
const VALUES =
  /(?:^|[^\p{L}])(?:ratings?|scores|labels|grades|verdicts|votes|judge?ments|classes|categories|rank(?:ing|ed(?: list)?)|order|titles|headings|captions|summaries|translations|keywords|tags|bewertungen|noten|rangfolge|reihenfolge|titel|titres|classement|puntuaciones|títulos|оценки|порядок|评分|得分|分数|标签|排名|排序|顺序|スコア|順位|順番|점수|순위|순서)(?: (?:per|for|of|by) [^:：\n]{1,24})?[*_]{0,2}[:：][*_]{0,2} ?$/iu

/** Whether a prompt ends where a value for each text is to follow, or their order. */
export function asksForValues(prompt: unknown): boolean {
  return typeof prompt === 'string' && VALUES.test(lastLine(prompt).slice(-longestAnnouncement))
}

function lastLine(prompt: string): string {
  const whole = prompt.trimEnd()
  return whole.slice(whole.lastIndexOf('\n') + 1)
}
