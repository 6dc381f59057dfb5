const NUMBER = '(?:numbers?|index|indexes|indices|ids?)'
const OF_DOCUMENTS = '(?:of the (?:documents?|passages?|sources?|chunks?|results?))'

/** Requests for an answer that is only a number. In such an answer nobody can map numbers back. */
const asked = new RegExp(
  [
    `\\b(?:answer|reply|respond)(?: only)? with (?:only |just )?(?:the|a|one|its|their) (?:\\p{L}+ ){0,3}(?:${NUMBER}|letters?|option)\\b(?! of)`,
    `\\b(?:return|output|list|give) (?:only |just )?(?:the|their|its) (?:\\p{L}+ )?(?:indices|index|ids?|numbers? ${OF_DOCUMENTS})\\b`,
    `\\b(?:only|just|solely|nothing but) (?:by |with )?(?:the|its|their|a|one) (?:\\p{L}+ ){0,2}${NUMBER}\\b(?! of (?!the (?:documents?|passages?|sources?|chunks?|results?)))`,
    `\\bcall \\w+ with (?:the|its|their) (?:\\p{L}+ ){0,2}${NUMBER}\\b`,
    '(?<!\\p{L})(?:nur|ausschließlich|lediglich) (?:mit )?(?:der|die|den|ihrer|seiner|deren|dessen) (?:\\p{L}*nummern?|\\p{L}*index)(?!\\p{L})',
    "(?<!\\p{L})(?:uniquement|seulement|juste) (?:par |avec |de )?(?:son|sa|le|leurs?|les|l['’])\\s?(?:num[ée]ros?|indices?)(?!\\p{L})",
    '(?<!\\p{L})(?:solo|sólo|solamente|únicamente|soltanto|apenas|somente|só) (?:con |com |il |l[ao] )?(?:el |su |o |seu |il |i |los |os )?(?:n[úu]meros?|numer[oi]|índices?|indic[ei])(?!\\p{L})',
    '(?<!\\p{L})только (?:номер|индекс)',
    '只(?:需要?|要|能|用)?(?:回答|输出|返回|给出|填写?|写|说)[^。\\n]{0,6}(?:编号|序号|数字|索引)',
    '(?:番号|번호)(?:だけ|のみ|만)',
  ].join('|'),
  'iu',
)

/** Returns whether a text asks for an answer that is only the number of a document. */
export function asksForNumber(text: string): boolean {
  return asked.test(text)
}
