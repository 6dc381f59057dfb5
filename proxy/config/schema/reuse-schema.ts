import { defaultWording } from '../../prompt/wording.ts'
import { flag, group, list, matching, object, oneOf, type SettingSchema, text, whole } from './setting-schema.ts'

const literal = (description: string): SettingSchema => ({ ...text(description), maxLength: 2_000 })

const template: SettingSchema = object(['block'], {
  name: text('Its name in reports.'),
  block: literal(
    'One block as the application writes it: `{block}` stands for its text, `{n}` for the number of its place, ' +
      '`{any}` for anything within one line. Everything else is meant as it is.',
  ),
  join: literal('What is between two blocks, and not behind the last.'),
  before: literal(
    'What is directly in front of the first block; `{start}`: the text begins with it. Needed if nothing begins a ' +
      'block. May contain `{any}`.',
  ),
  after: literal(
    'What is directly behind the last block; `{end}`: the text ends with it. Needed if nothing ends a block. May ' +
      'contain `{any}`.',
  ),
})

/** Describes what is done to prompts. */
export const reuseSchemas: Record<string, SettingSchema> = {
  mode: oneOf(
    '`auto` rewrites what is stated and what words, traffic and the model permit; `ask` what is stated or confirmed; `on` what no word forbids; `shadow` only computes, `off` does neither. Without it: `auto` if an engine can score prompts, otherwise `ask`.',
    ['auto', 'ask', 'on', 'shadow', 'off', true, false],
  ),
  annotations: group('Texts that tell the model what was moved.', {
    order: matching(
      'Added after reordered blocks; `{order}` becomes their labels in rank order.',
      '\\{order\\}',
      'has to contain {order}',
      defaultWording.order,
    ),
    location: matching(
      'Replaces a block that was sent before; `{label}` becomes its label.',
      '\\{label\\}',
      'has to contain {label}',
      defaultWording.location,
    ),
  }),
  options: text(
    'What counts for requests whose `x-reprise-options` do not say otherwise, in the words of that header, as in `annotate=off,citations=keep`.',
  ),
  learn: flag(
    'Whether borders of blocks are learnt: chunks from embeddings and reranks that pass through (docs/chunks.md), and lists that no rule knows from prompts, in a thread (docs/templates.md).',
    true,
  ),
  templates: list(
    'How applications write lists of blocks (docs/blocks.md). Lists that they find are moved as if they were given ' +
      'explicitly. Tried in this order.',
    template,
  ),
  chunks: group('The chunks whose borders are known. Only their digests are kept, never a text.', {
    max_chunks: {
      ...whole('Maximum number of chunks, of 97 bytes each; the least recently used go first. 0: none.', 0, 1_000_000),
      maximum: 16_000_000,
    },
  }),
  hygiene: group('Changes to requests beyond their blocks.', {
    sort_tools: flag('Whether `tools` are sent in a stable order.', false),
    behind_history: {
      type: 'array',
      description:
        'What applications retrieve for each question and write into the system message, in front of a history that grows: it is sent in front of the newest question instead.',
      default: [],
      items: text(
        'The words with which it begins and, behind `{any}`, those with which it ends, at their last occurrence; without them: with the message. These words are moved, too.',
      ),
    },
  }),
}
