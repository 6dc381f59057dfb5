import { parentPort } from 'node:worker_threads'
import { TemplateLearner } from './template-learner.ts'

/* Learns templates in a thread of its own: a try takes up to a tenth of a second or two. */

const learner = new TemplateLearner()

parentPort!.on('message', ({ place, text }: { place: string; text: string }) => {
  parentPort!.postMessage({ length: text.length, template: learner.take(place, text) })
})
