/** What a formula is made of: recency, how often it was asked for, and tokens. */
export interface HotnessFactors {
  readonly clock: number
  readonly frequency: number
  readonly length: number
}

/** Higher is hotter. */
export type HotnessFormula = (factors: HotnessFactors) => number

/** Equation 5 of HotPrefix: what is lowest is evicted first. */
export const evictionPriority = 'frequency + clock / length'
/** Equation 6 of HotPrefix: what is admitted to the host, and promoted from there. */
export const admissionHotness = 'frequency * clock'

const operators = {
  '+': (a: number, b: number) => a + b,
  '*': (a: number, b: number) => a * b,
  // nothing is worth infinitely much because its clock has run out
  '/': (a: number, b: number) => a / Math.max(1, b),
}
const operand = String.raw`\s*(clock|freq|frequency|length)\s*`
const operator = '([+*/])'
const shape = new RegExp(`^${operand}${operator}${operand}(?:${operator}${operand})?$`)

/**
 * Reads a formula `x op y` or `x op1 y op2 z` (HotPrefix §4): operands clock, frequency (or freq) and length, operators
 * +, * and /, of which + binds least. What is divided by counts as one at least. Throws a RangeError that says what is
 * wrong.
 */
export function parseFormula(text: string): HotnessFormula {
  const [, x, op1, y, op2, z] = shape.exec(text) ?? []
  if (!x || !op1 || !y) {
    throw new RangeError(
      `'${text}' is no formula: it is 'x op y' or 'x op y op z', of clock, frequency and length with +, * and /`,
    )
  }
  const [first, second] = [toOperand(x), toOperand(y)]
  const one = operators[op1 as keyof typeof operators]
  if (!op2 || !z) return (factors) => one(factors[first], factors[second])
  const third = toOperand(z)
  const two = operators[op2 as keyof typeof operators]
  if (op1 === '+' && op2 !== '+') return (factors) => one(factors[first], two(factors[second], factors[third]))
  return (factors) => two(one(factors[first], factors[second]), factors[third])
}

function toOperand(name: string): keyof HotnessFactors {
  return name === 'freq' ? 'frequency' : (name as keyof HotnessFactors)
}
