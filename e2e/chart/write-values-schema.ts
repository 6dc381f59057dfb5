import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { valuesSchema } from './values-schema.ts'

/* `npm run chart:schema`: writes the schema of the chart's values anew, after a setting of the product has changed. */
const file = join(import.meta.dirname, '..', '..', 'charts', 'reprise', 'values.schema.json')
writeFileSync(file, `${JSON.stringify(valuesSchema(), null, 2)}\n`)
