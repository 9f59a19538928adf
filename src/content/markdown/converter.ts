/**
 * The HTML to Markdown converter, mdream: its native binding where the package manager installed one, else the
 * WebAssembly build of the same code that every copy of the package carries (about four fifths of the speed). npm
 * leaves the binding out on a platform without one, and when it runs on a Node.js older than the binding asks for.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export type Convert = (html: string) => string

interface NativeModule {
  htmlToMarkdown(html: string): string
}
interface WebAssemblyModule {
  initSync(options: { module: Uint8Array }): unknown
  htmlToMarkdownResult(html: string, options: object): { readonly markdown?: string }
}

let loaded: Convert | undefined

/** Loads the converter at the first call; a process needs one. */
export function loadConverter(): Convert {
  loaded ??= loadNative() ?? loadWebAssembly()
  return loaded
}

function loadNative(): Convert | undefined {
  try {
    const { htmlToMarkdown } = createRequire(import.meta.url)('mdream') as NativeModule
    return (html) => htmlToMarkdown(html)
  } catch {
    return undefined
  }
}

export function loadWebAssembly(): Convert {
  const require = createRequire(import.meta.url)
  const { initSync, htmlToMarkdownResult } = require('mdream/wasm') as WebAssemblyModule
  initSync({ module: readFileSync(require.resolve('mdream/wasm/mdream_edge_bg.wasm')) })
  return (html) => htmlToMarkdownResult(html, {}).markdown ?? ''
}
