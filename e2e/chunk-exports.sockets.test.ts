import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readChunks } from '#proxy/admin/chunks/read-chunks.ts'

/*
 * Runs the exports of docs/chunks.md, word for word, on stores with two texts. Those whose package cannot be imported
 * are skipped by name; REPRISE_EXPORTS_PYTHON names a Python with langchain-core, llama-index-core, haystack-ai and
 * chromadb.
 */

const python = process.env.REPRISE_EXPORTS_PYTHON ?? 'python3'
const documented = readFileSync(join(import.meta.dirname, '../docs/chunks.md'), 'utf8')
const texts = ['First text of a corpus that is exported here.', 'Second text, with "quotes" and\nlines of its own.']
const texted = JSON.stringify(texts)

/** For each export, the module it needs and the Python code that makes a store with the texts. */
const stores: Readonly<Record<string, { module: string; make: string }>> = {
  LangChain: {
    module: 'langchain_core',
    make: `from langchain_core.vectorstores import InMemoryVectorStore
from langchain_core.embeddings import DeterministicFakeEmbedding
vector_store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
vector_store.add_texts(${texted})`,
  },
  LlamaIndex: {
    module: 'llama_index.core',
    make: `from llama_index.core import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.schema import TextNode
docstore = SimpleDocumentStore()
docstore.add_documents([TextNode(text=text) for text in ${texted}])
StorageContext.from_defaults(docstore=docstore).persist("storage")`,
  },
  Haystack: {
    module: 'haystack',
    make: `from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
document_store = InMemoryDocumentStore()
document_store.write_documents([Document(content=text) for text in ${texted}])`,
  },
  Chroma: {
    module: 'chromadb',
    make: `import chromadb
docs = chromadb.PersistentClient("chroma").create_collection("docs", embedding_function=None)
docs.add(ids=["a", "b"], documents=${texted}, embeddings=[[1.0, 0.0], [0.0, 1.0]])`,
  },
}

/** Returns the command below the comment that begins with this name. */
function commandOf(name: string): string {
  const [, command] = new RegExp(`^# ${name}\\b.*\\n(.+)$`, 'm').exec(documented) ?? []
  return command!.replace(/^python3 /, `'${python}' `)
}

function canImport(module: string): boolean {
  return spawnSync(python, ['-c', `import ${module}`], { timeout: 60_000 }).status === 0
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-exports-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe.each(Object.entries(stores))('the export of %s', (name, { module, make }) => {
  test.skipIf(!canImport(module))(`prints what chunks add takes (${module} is installed)`, { timeout: 120_000 }, () => {
    const env = { ...process.env, PYTHONPATH: folder, ANONYMIZED_TELEMETRY: 'False' }
    writeFileSync(join(folder, 'my_app.py'), make)
    const run = (command: string, args: readonly string[]): string => {
      const { stdout, stderr, status } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' })
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
      return stdout
    }
    if (!commandOf(name).includes('my_app')) run(python, ['my_app.py'])
    const { chunks } = readChunks(run('bash', ['-c', commandOf(name)]))
    expect(chunks.map(({ text }) => text).sort()).toEqual(texts.toSorted())
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(2)
  })
})
