/** The zeros of the scripts whose digits are in everyday use beside ASCII ones; the others follow each zero. */
const zeros = [
  0x0660, 0x06f0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50, 0x0ed0, 0x0f20,
  0x1040, 0x17e0, 0xff10,
]
const digitRanges = zeros.map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`)
const OTHER_DIGIT = new RegExp(`[${digitRanges.join('')}]`, 'g')

/** Returns a text with the decimal digits of other scripts, full-width ones included, as ASCII digits: same length. */
export function toAsciiDigits(text: string): string {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= zeros[0]!) return text.replace(OTHER_DIGIT, toAscii)
  return text
}

/** Returns a text with its ASCII digits in the script of a digit. */
export function toDigitsLike(digit: string, text: string): string {
  const zero = zeroOf(digit)
  return zero === undefined ? text : text.replace(/\d/g, (own) => String.fromCharCode(zero + Number(own)))
}

function toAscii(digit: string): string {
  return String(digit.charCodeAt(0) - zeroOf(digit)!)
}

function zeroOf(digit: string): number | undefined {
  const code = digit.charCodeAt(0)
  return zeros.find((zero) => zero <= code && code < zero + 10)
}
