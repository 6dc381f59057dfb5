/** What to write in place of settings that there were once, by path. */
export const removedSettings: ReadonlyMap<string, string> = new Map([
  ['blocks.patterns', 'write the text around the blocks in `templates`, without regular expressions (docs/blocks.md)'],
  ['blocks.pattern_milliseconds', 'leave it out, since `templates` need no time limit'],
  [
    'hygiene.move_volatile_headers',
    'leave it out, and put dates and ids next to the question (`reprise doctor --prompt` finds them)',
  ],
  [
    'blocks.separator',
    'write it as `join` of a template, with what is before and after the list in `before` and `after` (docs/blocks.md)',
  ],
  ['breaker', 'leave it out: after 5 failures in a row an engine gets no requests for 10 s'],
  ['chunks.body_bytes', 'leave it out: requests of up to 8 MiB are learned from'],
  ['chunks.max_bytes', 'set `chunks.max_chunks` instead: each chunk takes 97 bytes'],
  ['discover_seconds', 'leave it out: names are resolved again every 5 s'],
  ['explicit', 'leave it out: blocks of the `reprise` field are written as `[Doc_1] …`'],
  ['health.interval_seconds', 'leave it out: engines are checked every 5 s'],
  ['health.timeout_seconds', 'leave it out: an engine has 2 s to answer'],
  ['keep_alive_seconds', 'leave it out: a stream gets a comment line after 10 s of silence'],
  [
    'limits.group_window_milliseconds',
    'leave it out: requests wait for others that share blocks for 20 ms at most; `options.schedule: off`: not at all',
  ],
  ['limits.rewrite_milliseconds', 'leave it out: ordering the blocks of a large request may take 30 ms'],
  ['limits.rewrite_texts', 'leave it out: requests of up to 2,048 messages are rewritten'],
  ['mirror', 'leave it out: 50,000 requests are remembered for each replica'],
  ['ordering.when', 'leave it out: blocks are moved whenever something can be shared'],
  ['record.part_bytes', 'leave it out: a part has 64 MiB'],
])
