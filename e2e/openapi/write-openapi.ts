import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from './document.ts'

/* `npm run openapi`: rewrites docs/openapi.json; run it after changing a route of the admin listener or an answer. */
const file = join(import.meta.dirname, '..', '..', 'docs', 'openapi.json')
writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`)
