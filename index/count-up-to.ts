/** Returns how many of the first `count` numbers, ascending, are at most `limit`. O(log n). */
export function countUpTo(numbers: ArrayLike<number>, limit: number, count: number = numbers.length): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}
