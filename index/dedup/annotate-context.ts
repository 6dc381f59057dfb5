/** The text of the order annotation; `{order}` is replaced by the labels in rank order. */
export const defaultOrderAnnotation =
  'Please read the context in the following priority order: {order} and answer the question.'

/**
 * Order annotation (ContextPilot §5.3): names every block once by its label as sent, in the original ranking.
 * `labels[i]` is the label of the block in place i as sent; `order[i]` is its place in the ranking.
 * Undefined when the blocks stand in their original order.
 */
export function annotateOrder(
  order: readonly number[],
  labels: readonly string[],
  template: string = defaultOrderAnnotation,
): string | undefined {
  if (order.every((rank, place) => rank === place)) return undefined
  const ranked: string[] = new Array(order.length)
  order.forEach((rank, place) => {
    ranked[rank] = labels[place]!
  })
  // a function: labels may hold `$&` and the like
  return template.replace('{order}', () => ranked.join(' > '))
}

/** The text that tells what was cut out of blocks; `{values}` is replaced by each block's label and its values. */
export const defaultValuesAnnotation = 'Values of the search: {values}.'

/**
 * What fields said of each block, by its label as sent. `labels[i]` is the label of the block in place i as sent, which
 * was `order[i]` as received; `values` are in the order received. Undefined when there are none.
 */
export function annotateValues(
  values: readonly string[],
  order: readonly number[],
  labels: readonly string[],
  template: string = defaultValuesAnnotation,
): string | undefined {
  const told = order.flatMap((from, place) => (values[from] ? [`${labels[place]} ${values[from]}`] : []))
  return told.length === 0 ? undefined : template.replace('{values}', () => told.join(', '))
}

/** The text of the location annotation; `{label}` is replaced by the label of the block that is pointed to. */
export const defaultLocationAnnotation = 'Please refer to {label} in the previous conversation.'

/** Location annotation (ContextPilot §6): where the content that was left out stands earlier in the prompt. */
export function annotateLocation(label: string, template: string = defaultLocationAnnotation): string {
  return template.replace('{label}', () => label)
}
