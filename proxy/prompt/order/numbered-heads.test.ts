import { describe, expect, it } from 'vitest'
import { areNumberedHeads } from './numbered-heads.ts'

describe('texts are parts of one where they begin alike but for what counts', () => {
  it.each([
    [['Art. 1 The tenant', 'Art. 2 The landlord']],
    [['§ 7 Rent', '§ 8 Repairs', '§ 11 Notice']],
    [['(1/3) It rained', '(2/3) The sun', '(3/3) It snowed']],
    [['FY2021 report', 'FY2022 report', 'FY2024 report']],
    [['<document_id>1</document_id>', '<document_id>2</document_id>', '<document_id>3</document_id>']],
    [['<message_id>1</message_id>', '<message_id>4</message_id>', '<message_id>7</message_id>']],
    [['In 2019, rain', 'In 2018, sun', 'In 2015, snow']],
    [['2021: rain', '2022: sun']],
    [['Статья 1. Арендатор', 'Статья 2. Арендодатель']],
    [['제1조 임차인은', '제2조 임대인은']],
    [['第１章 雨', '第２章 太陽']],
    [['مادة ١ المطر', 'مادة ٢ الشمس']],
    [['បទ ១ ភ្លៀង', 'បទ ២ ព្រះអាទិត្យ']],
    [['## 1 Setup', '## 2 Use', '## 3 End']],
    [['Exhibit A. Rain', 'Exhibit B. Sun']],
    [['I. Rain', 'II. Sun', 'III. Snow', 'IV. Fog']],
    [['c) Rain', 'b) Sun', 'a) Snow']],
    [['First, rain', 'Second, sun', 'Third, snow']],
    [['Erstens: Regen', 'Zweitens: Sonne']],
    [['1\n00:01 rain', '2\n00:02 sun']],
    [['March - rain', 'April - sun', 'June - snow']],
    [['Monday: rain', 'Tuesday: sun']],
  ])('%j', (heads) => expect(areNumberedHeads(heads)).toBe(true))
})

describe('texts are none where what counts is their own', () => {
  it.each([
    [['Windows 7 setup', 'Windows 10 setup']],
    [['3 men died', '5 men lived', '4 men left']],
    [['3 ways to win', '4 ways to lose']],
    [['Score: 0.9 rain', 'Score: 0.8 sun', 'Score: 0.7 snow']],
    [['<document_id>11</document_id>', '<document_id>48</document_id>', '<document_id>85</document_id>']],
    [['https://a.example/1 rain', 'https://a.example/2 sun']],
    [['doc1.md rain', 'doc2.md sun']],
    [['a.md: rain', 'b.md: sun']],
    [['(Title: t1) rain', '(Title: t2) sun']],
    [['one', 'two']],
    [['20 % of rain', '21 % of sun']],
    [['', '']],
  ])('%j', (heads) => expect(areNumberedHeads(heads)).toBe(false))
})
