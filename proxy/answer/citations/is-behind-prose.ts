const codeSigns = /[={}]|[\w$]\(|::|->|\b(?:if|for|while|switch) ?\(|\b(?:const|var) /
const lastWord = /(?:^|[^\w$.)\]/\\@#'’-])((?:[A-Za-z]+['’-])*[A-Za-z]+|\d[\d.,]*)$/
// `[the rain][1]`, but not `m[i][1]`
const linkText = /(?:^|[^\w$)\]])\[[^[\]]*\p{L}{2}[^[\]]*\]$/u
const likelyWord = /^[A-Z\d]|.{4}/

/**
 * Whether a bracket after `line` can be a citation rather than an index in code, as in `a[0]`, `rows[0][1]` or
 * `f()[1]`. Many citations have no space before them (`Paris[1].`), so a word of prose may precede the bracket.
 */
export function isBehindProse(line: string): boolean {
  const last = line.at(-1)
  if (last === undefined || !/[\w$)\]]/.test(last)) return true
  if (codeSigns.test(line)) return false
  if (last === ']') return linkText.test(line)
  return last === ')' || likelyWord.test(lastWord.exec(line)?.[1] ?? '')
}
