import { collect, write } from './collect.ts'
import { readSources } from './samples.ts'
import { createTasks } from './tasks.ts'

const [url, kind, out, count = '12', only] = process.argv.slice(2)
const all: any[] = []
for (const task of createTasks(readSources('/work/shared/data', Number(count)))) {
  if (only && !only.split('|').includes(task.name)) continue
  const t = Date.now()
  const scored = await collect({ url: url!, kind: kind as any, model: 'SmolLM2-135M-Instruct' }, task, 1000)
  all.push(...scored)
  console.log(
    task.name,
    scored.length,
    ((Date.now() - t) / 1000).toFixed(0) + ' s',
    JSON.stringify(scored[0]?.answer.slice(0, 150)),
  )
  write(out!, all)
}
