import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Writes a folder of JSONL files, gzipped if their names end in `.gz`. A line may be given as text. */
export async function writeTraceFolder(files: Readonly<Record<string, readonly unknown[]>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reprise-replay-'))
  for (const [name, lines] of Object.entries(files)) {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    await writeFile(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text)
  }
  return folder
}
