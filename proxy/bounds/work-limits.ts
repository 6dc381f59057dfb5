/** How much of one request is read and rewritten; what is beyond it is forwarded as received. */
export interface WorkLimits {
  /** of the body */
  readonly bytes: number
  /** messages, or texts in them */
  readonly texts: number
  /** for deciding about it, once its blocks are found */
  readonly milliseconds: number
}

/** Why a request is forwarded as received that would take longer to rewrite than other requests can wait. */
export const tooLarge = 'too_large_to_rewrite'

/** JSON.parse and what follows take microseconds for each of these, whatever their size. */
export const mostContainers = 10_000
export const mostStrings = 60_000
/** Numbers take less: a million of them, as in a prompt of token ids, 50 ms. */
export const mostCommas = 150_000
/** Nobody nests a request so deeply; JSON.parse takes 20 times as long for what is. */
export const mostDepth = 500
/** Line breaks and `<`, of which each may begin a block: a million tokens of prose have about as many. */
export const mostMarks = 60_000

/** A body within all three is done in milliseconds: it waits for no turn, and is never given up for taking long. */
export const lightBytes: number = 256 * 1024
export const lightContainers = 512
export const lightMarks = 8_000
