/** Items as they come, handed on in portions. */
export async function inPortions<T>(
  items: AsyncIterable<T>,
  size: number,
  take: (portion: readonly T[]) => void | Promise<void>,
): Promise<void> {
  let portion: T[] = []
  for await (const item of items) {
    portion.push(item)
    if (portion.length < size) continue
    await take(portion)
    portion = []
  }
  if (portion.length > 0) await take(portion)
}
