/** Seeds that once failed, each with what it found. They are run for ever. */
export const KEPT_SEEDS: readonly { readonly seed: number; readonly found: string }[] = []
