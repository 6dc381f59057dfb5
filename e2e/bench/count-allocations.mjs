import { Session } from 'node:inspector'

/*
 * Loaded into a server before its own code. It counts the bytes that the server allocates in the heap of JavaScript. Each
 * message is answered with the count so far, and begins the next one. V8 samples, so that small counts are estimates.
 */

const session = new Session()
session.connect()
const ask = (method, parameters) =>
  new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result)))
  })

const bytesOf = ({ selfSize, children }) => children.reduce((sum, child) => sum + bytesOf(child), selfSize)

let isCounting = false
process.on('message', async () => {
  const bytes = isCounting ? bytesOf((await ask('HeapProfiler.stopSampling')).profile.head) : 0
  await ask('HeapProfiler.startSampling', {
    samplingInterval: 4_096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  isCounting = true
  process.send({ bytes })
})
process.channel?.unref()
