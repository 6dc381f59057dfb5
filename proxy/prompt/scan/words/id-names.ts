/**
 * Names of attributes and members that hold a block's id. The first one that all blocks of a list have is its label.
 */
export const idNames: readonly string[] = ['index', 'id', 'number', 'n', 'position', 'rank', 'doc_id']

/** An id that identifies a block in citations: a word or a number. */
export const plainId: RegExp = /^[\p{L}\p{N}_.:/#-]{1,64}$/u
