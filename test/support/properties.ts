/**
 * Properties are tried with the same cases in every run, so that a change is judged by what it changed. For other cases:
 * `TIPTOE_PROPERTY_SEED=random`, or the number that a failure printed.
 */
import fc from 'fast-check'

const SEED = 1_728_256_692

const wanted = process.env['TIPTOE_PROPERTY_SEED']
if (wanted !== 'random') fc.configureGlobal({ seed: wanted === undefined ? SEED : Number(wanted) })
