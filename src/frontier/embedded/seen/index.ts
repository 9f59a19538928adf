/** The exact set of known fingerprints, in sorted files with a filter each: see docs/adr/0012-seen-runs.md. */
export { createMemoryRunFiles } from './memory-run-files.ts'
export { createFolderRunFiles, type RunDraft, type RunFile, type RunFiles } from './run-files.ts'
export { createSeenSet, type SeenSet, type SeenSetOptions } from './seen-set.ts'
