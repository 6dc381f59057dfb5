const words =
  'river stone window garden paper morning engine silver market forest bridge letter winter candle harbor meadow ladder copper island valley button carpet feather lantern pepper saddle thunder velvet walnut zipper anchor basket cactus dragon easel falcon guitar hammer insect jacket kettle lemon magnet needle orange pencil quartz ribbon salmon tunnel urchin violin wagon yellow acorn bottle camera dinner effort figure'.split(
    ' ',
  )

/** A text that nobody has sent before, of about one token per byte of `seed`: each byte chooses a word. */
export function toProbeText(name: string, seed: Uint8Array): string {
  return `Probe ${name}. ${[...seed].map((byte) => words[byte % words.length]).join(' ')}. Answer with one word.`
}
