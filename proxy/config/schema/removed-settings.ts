/** What to write in place of settings that there were once, by path. */
export const removedSettings: ReadonlyMap<string, string> = new Map([
  ['blocks.patterns', 'write the text around the blocks in `templates`, without regular expressions (docs/blocks.md)'],
  ['blocks.pattern_milliseconds', 'leave it out, since `templates` need no time limit'],
  [
    'hygiene.move_volatile_headers',
    'leave it out, and put dates and ids next to the question (`reprise doctor --prompt` finds them)',
  ],
])
