import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { valuesSchema } from './values-schema.ts'

/* `npm run chart:schema`: rewrites the schema of the chart's values; run it after changing a setting of the product. */
const file = join(import.meta.dirname, '..', '..', 'charts', 'reprise', 'values.schema.json')
writeFileSync(file, `${JSON.stringify(valuesSchema(), null, 2)}\n`)
