/** The inputs of a formula: recency, number of requests, and length in tokens. */
interface HotnessFactors {
  readonly clock: number
  readonly frequency: number
  readonly length: number
}

/** Computes a hotness; higher is hotter. */
export type HotnessFormula = (factors: HotnessFactors) => number

/** Equation 5 of HotPrefix. The lowest value is evicted first. */
export const evictionPriority = 'frequency + clock / length'
/** Equation 6 of HotPrefix. It decides about admission to the host and promotion from there. */
export const admissionHotness = 'frequency * clock'

const operators = {
  '+': (a: number, b: number) => a + b,
  '*': (a: number, b: number) => a * b,
  // at least 1, so that an expired clock does not give an infinite value
  '/': (a: number, b: number) => a / Math.max(1, b),
}
const operand = String.raw`\s*(clock|freq|frequency|length)\s*`
const operator = '([+*/])'
const shape = new RegExp(`^${operand}${operator}${operand}(?:${operator}${operand})?$`)

/**
 * Parses a formula `x op y` or `x op1 y op2 z` (HotPrefix §4). The operands are clock, frequency (or freq) and length;
 * the operators are +, * and /, with the usual precedence. Divisors count as at least 1. Throws a RangeError with an
 * explanation if the text is not a formula.
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
