const wholeNumbers = new Intl.NumberFormat('en')
const shortNumbers = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const find = (id) => document.getElementById(id)
export const whole = (number) => wholeNumbers.format(number)
export const short = (number) => shortNumbers.format(number)
export const percent = (ratio, digits = 1) => (ratio === undefined ? '–' : `${(100 * ratio).toFixed(digits)} %`)
export const clock = (at) =>
  new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** An HTML element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** An SVG element with attributes and text. */
export function drawn(name, attributes = {}, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}

/** A bar that is full at 1. */
export function bar(share, color) {
  const fill = element('div', { class: 'fill' })
  fill.style.width = `${100 * share}%`
  fill.style.background = color
  return element('div', { class: 'track' }, fill)
}

/** A word in a rounded frame; kind is good, warn, bad or nothing. */
export function pill(text, kind = '') {
  return element('span', { class: `pill ${kind}` }, element('i', { class: 'dot' }), text)
}

/** Replaces the text of an element, with a unit behind it if there is one. */
export function say(id, text, unit) {
  find(id).replaceChildren(text, ...(unit === undefined ? [] : [element('small', {}, unit)]))
}
