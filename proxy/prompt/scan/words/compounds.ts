import type { Weight } from './nouns.ts'

/*
 * Nouns composed of a word for how a text was found, or its subject, and a word for what it is. These languages write
 * them as one word or with a space, and there are too many to list.
 */

interface Compounding {
  /** How the text was found, or its subject. */
  readonly first: string
  /** What it is called. */
  readonly last: string
  /** What may be between them. */
  readonly gaps: readonly string[]
  readonly weight: Weight
}

// parts of one text are also called this, so these need more evidence
const compoundings: readonly Compounding[] = [
  {
    first: 'context search knowledge document source text evidence reference memory',
    last: 'item entry block piece segment hit match record',
    gaps: [' '],
    weight: 'weak',
  },
  {
    first: 'kontext quell such wissens referenz beleg fund text dokument dokumenten',
    last: 'auszug stelle treffer ergebnis dokument quelle ausschnitt passage schnipsel fragment',
    gaps: ['', '-'],
    weight: 'strong',
  },
  {
    first: 'text kontext dokument dokumenten wissens inhalts quell',
    last: 'abschnitt absatz stück teil block baustein segment chunk eintrag',
    gaps: ['', '-'],
    weight: 'weak',
  },
  {
    first: 'bron context tekst zoek kennis',
    last: 'document fragment passage resultaat tekst',
    gaps: ['', '-'],
    weight: 'strong',
  },
  {
    first: '参考 相关 检索 搜索 召回 引用 候选 背景 知识 知识库 已知 上下文',
    last: '文档 文件 资料 片段 内容 信息 段落 文章 文献 文本 结果 条目 来源 网页 知识',
    gaps: [''],
    weight: 'strong',
  },
  { first: '文档 文本 文章 文献 网页 资料', last: '片段 块 分块 切片 段落 内容 摘录', gaps: [''], weight: 'weak' },
  {
    first: '参考 関連 検索 引用 取得 背景 コンテキスト ナレッジ',
    last: '文書 ドキュメント 資料 情報 結果 抜粋 文献 テキスト チャンク 記事 箇所',
    gaps: ['', 'の'],
    weight: 'strong',
  },
  { first: '文書 ドキュメント テキスト 資料', last: '断片 チャンク 抜粋 内容', gaps: ['', 'の'], weight: 'weak' },
  {
    first: '참고 관련 검색 문서 컨텍스트 배경',
    last: '문서 자료 정보 결과 발췌 조각 청크 출처 문헌 내용',
    gaps: ['', ' '],
    weight: 'strong',
  },
]

/** All compounds, with the evidence that each is by itself. */
export const compounds: readonly { readonly noun: string; readonly weight: Weight }[] = compoundings.flatMap(
  ({ first, last, gaps, weight }) =>
    first.split(' ').flatMap((one) =>
      last
        .split(' ')
        .filter((other) => other !== one)
        .flatMap((other) => gaps.map((gap) => ({ noun: one + gap + other, weight }))),
    ),
)
