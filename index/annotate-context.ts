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

/** The text of the location annotation; `{label}` is replaced by the label of the block that is pointed to. */
export const defaultLocationAnnotation = 'Please refer to {label} in the previous conversation.'

/** Location annotation (ContextPilot §6): where the content that was left out stands earlier in the prompt. */
export function annotateLocation(label: string, template: string = defaultLocationAnnotation): string {
  return template.replace('{label}', () => label)
}
