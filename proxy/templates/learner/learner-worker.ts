import { parentPort } from 'node:worker_threads'
import { lengthOf, type UnknownText } from './seen-lists.ts'
import { TemplateLearner } from './template-learner.ts'

/* Learns templates in a thread of its own: a try takes up to a tenth of a second or two. */

const learner = new TemplateLearner()

parentPort!.on('message', ({ place, unknown }: { place: string; unknown: UnknownText }) => {
  parentPort!.postMessage({ length: lengthOf(unknown), learnt: learner.take(place, unknown) })
})
