// `response.content` is not a file
const KINDS =
  'md|mdx|markdown|txt|rst|adoc|org|tex|pdf|docx?|pptx?|xlsx?|odt|rtf|epub|html?|xml|json|jsonl|ya?ml|toml|ini|cfg|conf|csv|tsv|log|sql|sh|py|ipynb|ts|tsx|js|jsx|mjs|cjs|vue|svelte|css|scss|java|kt|scala|go|rs|rb|php|c|cc|cpp|h|hpp|cs|swift|dart|lua|r|jl|pl|proto|tf|eml|srt|vtt'
const PART = '[\\p{L}\\p{M}\\p{N}_@.+~-]{1,100}'

/** The source of a pattern for paths and names of files. */
export const fileName: string = `${PART}(?:[/\\\\]${PART}){0,12}\\.(?:${KINDS})(?![\\w.(])`
