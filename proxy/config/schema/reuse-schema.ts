import { defaultSeparator, defaultWording } from '../../prompt/wording.ts'
import { flag, group, matching, milliseconds, onOff, type SettingSchema, text, whole } from './setting-schema.ts'

const pattern: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'pattern'],
  properties: {
    name: text('What the pattern is called in what is reported.'),
    pattern: {
      ...text(
        'A JavaScript regular expression. A block is its group `(?<block>…)`, else its first group without a name, else ' +
          'the whole match; `(?<label>…)` is its label.',
      ),
      maxLength: 2_000,
    },
    flags: matching('Its flags.', '^[imsuv]*$', 'only the flags i, m, s, u and v are of use here'),
  },
}

/** Describes what is done to prompts. */
export const reuseSchemas: Record<string, SettingSchema> = {
  mode: {
    description: '`on` rewrites, `shadow` only computes, `off` does neither.',
    enum: ['on', 'shadow', 'off', true, false],
    default: 'on',
  },
  ordering: group('How context blocks are ordered.', {
    when: {
      description:
        '`pays`: blocks are moved where that is expected to save more tokens than the annotation takes; `possible`: wherever something can be shared.',
      enum: ['pays', 'possible'],
      default: 'possible',
    },
    max_displacement: whole('Furthest a block may stand from its rank, in places. Without it: anywhere.', 0),
  }),
  mirror: group('What is remembered of the requests that replicas were sent.', {
    requests: whole('Requests of each replica that are remembered; about 600 bytes each.', 1, 50_000),
  }),
  annotations: group('Texts that tell the model what was moved.', {
    order: matching(
      'Stands behind blocks that were reordered; `{order}` becomes their labels in rank order.',
      '\\{order\\}',
      'has to contain {order}',
      defaultWording.order,
    ),
    volatile: matching(
      'Tells what was cut out of blocks (`blocks.volatile`); `{values}` becomes each label with its values.',
      '\\{values\\}',
      'has to contain {values}',
      defaultWording.volatile,
    ),
    location: matching(
      'Stands in place of a block that was sent before; `{label}` becomes its label.',
      '\\{label\\}',
      'has to contain {label}',
      defaultWording.location,
    ),
  }),
  explicit: group('Blocks of the `reprise` field.', {
    template: matching(
      'How one is written; `{k}` becomes its place, `{text}` its text.',
      // a second number would not be counted up with the first, and a second text would be sent
      '^(?=[\\s\\S]*\\{k\\})(?=[\\s\\S]*\\{text\\})(?![\\s\\S]*(\\{k\\}|\\{text\\})[\\s\\S]*\\1)',
      'has to contain {k} and {text}, each once',
      defaultWording.block,
    ),
  }),
  options: group('What requests get that say nothing in `x-reprise-options`.', {
    reorder: onOff('Whether blocks are reordered.'),
    dedup: onOff('Whether repeated blocks are replaced by a reference.'),
    annotate: onOff('Whether the ranking is told to the model.'),
    schedule: onOff('Whether requests may wait for others that share blocks.'),
    citations: {
      description: "Whether citations in answers are mapped back to the caller's labels.",
      enum: ['remap', 'keep'],
      default: 'remap',
    },
  }),
  blocks: group('How context blocks are found besides the known ways.', {
    patterns: { type: 'array', description: 'Tried in this order.', items: pattern, default: [] },
    pattern_milliseconds: milliseconds('How long all patterns together may take for one request.', 1, 50),
    separator: {
      type: 'string',
      description:
        'What an application puts between documents so that their borders are certain; taken out of every prompt. ' +
        'Four characters at least; empty: none is looked for.',
      pattern: '^(?:|[\\s\\S]{4,64})$',
      $comment: 'has to have 4 to 64 characters, or none',
      default: defaultSeparator,
    },
    volatile: {
      description:
        'Numbers that only rank a block, as a score in its JSON or tag: `move` tells them behind the list, `drop` leaves ' +
        'them out, `keep` sends them where they are, and equal documents differ with every question.',
      enum: ['move', 'drop', 'keep'],
      default: 'keep',
    },
  }),
  chunks: group('The chunks whose borders are known: digests of them are kept, and never a text.', {
    max_chunks: {
      ...whole('How many at most; those used longest ago go first. 0: none.', 0, 1_000_000),
      maximum: 16_000_000,
    },
    max_bytes: whole('Memory for them; 1,000,000 chunks take 97 MB.', 0, 100_000_000),
    learn: flag('Whether inputs of embeddings and reranks that pass through are learned.', true),
    body_bytes: whole('Largest request that is learned from.', 1, 8 * 1024 * 1024),
  }),
  hygiene: group('Changes to requests beyond their blocks.', {
    sort_tools: flag('Whether `tools` are sent in a stable order.', false),
    move_volatile_headers: flag(
      "Whether lines that change with every request are moved behind the system prompt's rest.",
      false,
    ),
  }),
}
