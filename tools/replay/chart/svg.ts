/** The first lines of a standalone SVG, with a title for readers who do not see it. */
export function beginSvg(width: number, height: number, title: string): string[] {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#7d7d7d">`,
    `<title>${toXml(title)}</title>`,
  ]
}

/** Rounds a coordinate to a hundredth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 100) / 100
}

export function toXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
