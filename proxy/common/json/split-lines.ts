/**
 * Yields the lines of UTF-8 text, without a byte order mark and their ends: `\n`, or `\r\n`. What `node:readline` also takes for an end stays in
 * a line: JSON may contain U+2028. Text behind the last end is a line of its own. A fault of the reader or of the chunks
 * ends both.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let open = ''
  for await (const chunk of chunks) {
    // only what is new is searched: a line may span many chunks
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    const last = pieces.pop()!
    for (const piece of pieces) {
      yield withoutReturn(open + piece)
      open = ''
    }
    open += last
  }
  open += decoder.decode()
  if (open) yield withoutReturn(open)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
