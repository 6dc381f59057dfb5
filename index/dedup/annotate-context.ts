/** Template of the order annotation. `{order}` is replaced by the labels in rank order. */
export const defaultOrderAnnotation =
  'Please read the context in the following priority order: {order} and answer the question.'

/**
 * Order annotation (ContextPilot §5.3): lists the blocks in the original ranking, by their labels as sent. `labels[i]`
 * is the label of block i as sent, undefined if the prompt has none for it, and `order[i]` is its rank. Returns
 * undefined if the blocks that have labels are in their original order.
 */
export function annotateOrder(
  order: readonly number[],
  labels: readonly (string | undefined)[],
  template: string = defaultOrderAnnotation,
): string | undefined {
  const named = order.flatMap((rank, place) => {
    const label = labels[place]
    return label === undefined ? [] : [{ rank, label }]
  })
  if (named.every(({ rank }, place) => place === 0 || named[place - 1]!.rank < rank)) return undefined
  const ranked = named.sort((a, b) => a.rank - b.rank).map(({ label }) => label)
  // a function, because labels may contain `$&` and the like
  return template.replace('{order}', () => ranked.join(' > '))
}

/** Template for the field values cut out of blocks. `{values}` is replaced by each block's label and values. */
export const defaultValuesAnnotation = 'Values of the search: {values}.'

/**
 * Lists the field values of each block, by its label as sent, or by its place if it has none. `labels[i]` is the label
 * of block i as sent, which was at position `order[i]` as received. `values` are in the order received. Returns undefined if there are none.
 */
export function annotateValues(
  values: readonly string[],
  order: readonly number[],
  labels: readonly (string | undefined)[],
  template: string = defaultValuesAnnotation,
): string | undefined {
  if (order.every((from) => !values[from])) return undefined
  const told = order.flatMap((from, place) => {
    const [value, label] = [values[from], labels[place]]
    // without labels the place in the sequence says whose it is
    return label === undefined ? [value || '–'] : value ? [`${label} ${value}`] : []
  })
  return template.replace('{values}', () => told.join(', '))
}

/** Template of the location annotation. `{label}` is replaced by the label of the target block. */
export const defaultLocationAnnotation = 'Please refer to {label} in the previous conversation.'

/** Location annotation (ContextPilot §6): says where the omitted content is, earlier in the prompt. */
export function annotateLocation(label: string, template: string = defaultLocationAnnotation): string {
  return template.replace('{label}', () => label)
}
