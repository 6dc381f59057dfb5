import type { ContextSlot } from '../prompt/body/prompt-context.ts'
import { findLineEnd } from '../prompt/scan/find-edges.ts'

/*
 * Texts whose lines are counted or edited: code, settings, patches, listings with line numbers. If a stretch were taken
 * out of such a text, all later lines would shift, and an edit of the file would overwrite the wrong lines.
 */

// a file extension, in the words before a text or on its first line
const FILE =
  /[\w@+-]\.(?:[cm]?[jt]sx?|pyi?|go|rs|java|kts?|scala|groovy|gradle|c|cc|cpp|cxx|h|hh|hpp|cs|fs|vb|rb|php|swift|dart|lua|pl|pm|r|jl|exs?|erl|hs|ml|clj|sh|bash|zsh|fish|ps1|bat|sql|css|scss|less|html?|vue|svelte|astro|xml|json[c5l]?|ya?ml|toml|ini|cfg|conf|env|tf|hcl|proto|graphql|cmake|mk|lock|diff|patch|ipynb|csv|tsv|log)(?![\w.-])|(?:^|[\s/"'`])(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|Rakefile)(?![\w.-])/i
// `12 | x`, `12: x`, `  12→x`, `12\tx`
const NUMBERED_LINE = /^[ \t]*\d{1,6}(?:[ \t]*[|:→│]|\t)/u
const HUNK = /^(?:@@ -\d|diff --git |--- [ab]\/)/
const CODE_LINE =
  /[;{}]$|\)[:,]?$|^[ \t]*(?:import|from|def|class|function|const|let|var|return|if|elif|else|for|while|try|except|catch|#include|package|public|private|protected|static|use|fn|func|struct|enum|interface|type|export|async|await|end|@\w+|\/\/|\/\*|<\/?\w)(?![\p{L}'’])/u

const FURTHEST = 4_000
const LONGEST_LINE = 300
const MOST_MARK = 300

/**
 * Returns whether lines of this block are counted from its beginning, or may be edited. No stretch of such a block may
 * be left out.
 */
export function holdsPositions(text: string, { start, end, content }: ContextSlot): boolean {
  const head = text.slice(start, Math.min(Math.max(content.start, findLineEnd(text, start)), start + MOST_MARK, end))
  return FILE.test(head) || areLinesCounted(text.slice(content.start, Math.min(content.end, content.start + FURTHEST)))
}

/** Returns whether at least a third of these lines look like code or are numbered, or the text is a patch. */
function areLinesCounted(content: string): boolean {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  if (lines.some((line) => HUNK.test(line))) return true
  const counted = lines.filter(
    (line) => NUMBERED_LINE.test(line) || CODE_LINE.test(line.slice(0, LONGEST_LINE).trimEnd()),
  )
  return lines.length > 2 && counted.length * 3 >= lines.length
}
