import { stallShapes as shapes } from './bench/stall-shapes.ts'
import { Sender } from '#proxy/reuse/sender.fixture.ts'
const body = (shapes as any)['blocks beside the messages'](1 << 20)
const json = JSON.parse(body.toString())
console.log(json.reprise.blocks.length)
const s = new Sender()
for (let i = 0; i < 4; i++) {
  const t = process.cpuUsage()
  const at = performance.now()
  const d: any = s.decide(json)
  const c = process.cpuUsage(t)
  console.log(i, d.blocks, d.skipped, (performance.now() - at).toFixed(0), 'cpu', (c.user / 1000).toFixed(0))
  s.send
}
