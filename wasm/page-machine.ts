/** What is compiled: AssemblyScript, by `build.mjs` beside it, into src/parse/html/page-machine-code.ts. */
export { hashOfPage } from './page-hash'
export { find, pass } from './page-search'
export { findReference, findReferences, forgetReferences, rememberReference } from './known-references'
