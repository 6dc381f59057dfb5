import { dirname, join } from 'node:path'

/** A block or span of code, an image, or a link to a file: only of the last are words and path captured. */
const links = /```.*?```|`[^`]*`|!\[[^\]]*\]\([^)]*\)|\[([^[\]]*)\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/gs

/** Replaces the links of a page to files that are not packed by the names of these files in the sources. */
export function cutLinks(text: string, page: string, isPacked: (path: string) => boolean): string {
  return text.replaceAll(links, (all, words: string | undefined, path: string) => {
    if (words === undefined) return all
    const target = join(dirname(page), path)
    return isPacked(target) ? all : `${words} (\`${target}\`)`
  })
}
