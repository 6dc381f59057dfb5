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

/** Template of the location annotation. `{label}` is replaced by the label of the target block. */
export const defaultLocationAnnotation = 'Please refer to {label} in the previous conversation.'

/** Location annotation (ContextPilot §6): says where the omitted content is, earlier in the prompt. */
export function annotateLocation(label: string, template: string = defaultLocationAnnotation): string {
  return template.replace('{label}', () => label)
}
