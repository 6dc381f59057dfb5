import { expect, it } from 'vitest'
import { toAsciiDigits } from './digits.ts'

it.each([
  ['第１０章', '第10章'],
  ['٢٠٢٤ and ۲۰۲۴', '2024 and 2024'],
  ['अध्याय १२', 'अध्याय 12'],
  ['অধ্যায় ৩', 'অধ্যায় 3'],
  ['บทที่ ๙', 'บทที่ 9'],
  ['ជំពូក ៥', 'ជំពូក 5'],
  ['² and ③ and Ⅳ and 12', '² and ③ and Ⅳ and 12'],
])('digits of other scripts are read: %s', (text, read) => expect(toAsciiDigits(text)).toBe(read))

it('every decimal digit of these scripts is what Unicode says', () => {
  const wrong: string[] = []
  for (let code = 0x80; code <= 0xffff; code++) {
    const read = toAsciiDigits(String.fromCharCode(code))
    if (/^\d$/.test(read) && !/^\p{Nd}$/u.test(String.fromCharCode(code))) wrong.push(code.toString(16))
  }
  expect(wrong).toEqual([])
})
