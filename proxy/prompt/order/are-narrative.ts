// beginnings that continue an earlier text; a separate text seldom begins like this
const GOES_ON =
  /^(?:["'“«*_(]{0,3})(?:then|next|after (?:that|this|which)|afterwards?|thereafter|later(?: (?:on|that))?|meanwhile|subsequently|soon after|finally|at last|in the end|eventually|the next (?:day|morning|step)|dann|danach|daraufhin|anschließend|später|schließlich|zuletzt|am ende|ensuite|puis|après (?:cela|quoi)|plus tard|enfin|finalement|luego|después|más tarde|por último|finalmente|al final|poi|dopo|infine|depois|em seguida|por fim|daarna|vervolgens|ten slotte|potem|następnie|wreszcie|затем|потом|после этого|наконец|потім|далі|згодом|нарешті|sedan|därefter|slutligen|derefter|til sidst|til slutt|sitten|seuraavaksi|lopuksi|potom|poté|nakonec|aztán|ezután|végül|apoi|după aceea|în final|έπειτα|στη συνέχεια|τέλος|sonra|ardından|son olarak|sau đó|tiếp theo|cuối cùng|lalu|kemudian|setelah itu|selanjutnya|akhirnya|ثم|بعد ذلك|وأخيرا|أخيرا|وأخيرًا|אחר כך|לאחר מכן|לבסוף|फिर|इसके बाद|अंत में)(?=[ ,:;.،]|$)|^(?:จากนั้น|ต่อมา|สุดท้าย|然后|接着|随后|之后|最后|后来|その後|次に|それから|最後に|그다음|그 후|그리고 나서|마지막으로)/iu

// a title: not a sentence, and the text below it starts a new one
const HEADING = /^[^.!?,;:。！？，；：\n]{1,80}\r?\n\s*(?!\p{Ll})/u

/**
 * Returns whether the texts are parts of one narrative: at least two of them, but not the first, begin with `Then`,
 * `At last` and the like. A heading such as `Next steps` does not count.
 */
export function areNarrative(heads: readonly string[]): boolean {
  if (heads.length < 3) return false
  const going = heads.map((head) => GOES_ON.test(head) && !HEADING.test(head))
  return !going[0] && going.filter(Boolean).length > 1
}
