/**
 * The bare loop in Node, as a measure of what is left to win: no robots.txt, no pace, no store, no records. It knows
 * by heart what is closed, so that it asks for as much as the others. 32 connections, no delay.
 */
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'

export const bare: Contestant = {
  name: 'bare Node loop',
  setUp: ({ url }) => ({
    program: process.execPath,
    words: [join(import.meta.dirname, 'bare-loop.ts'), url, String(CONCURRENCY)],
  }),
}
