/**
 * A regular expression as a list of states, run by moving a set of states along the text (Thompson 1968). It answers
 * yes or no in at most states × (length + 1) steps, whatever pattern and text are: there is no backtracking, so a
 * hostile pair cannot hang it. Texts are normalised URLs and hence ASCII; any other character matches nothing.
 */

/** The membership of the 128 ASCII characters, 1 for a member. */
export type CharSet = Uint8Array

export type Expression =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly items: readonly Expression[] }
  | { readonly kind: 'choice'; readonly options: readonly Expression[] }
  /** `max` may be Infinity. */
  | { readonly kind: 'repeat'; readonly item: Expression; readonly min: number; readonly max: number }
  | { readonly kind: 'assert'; readonly what: Assertion }

export type Assertion = 'start' | 'end' | 'word-boundary' | 'no-word-boundary'

export interface Nfa {
  /** Searches the text for a match anywhere; `steps` is the work that it took. */
  search(text: string): { readonly matched: boolean; readonly steps: number }
}

/** A pattern with more states is refused; it would cost too much on every link of every page. */
export const MAX_STATES = 10_000

/** Visits are counted as well as states: `(){999}` nested a few times emits nothing, nearly for ever. */
const MAX_VISITS = 10 * MAX_STATES

const SET = 0
const SPLIT = 1
const JUMP = 2
const MATCH = 3
const ASSERT = 4

interface State {
  readonly op: number
  readonly set?: CharSet
  readonly what?: Assertion
  next: number
  other: number
}

/** Undefined when the expression needs more than `MAX_STATES` states. */
export function compileNfa(expression: Expression): Nfa | undefined {
  const states: State[] = []
  if (!emitAll(states, expression)) return undefined
  states.push({ op: MATCH, next: -1, other: -1 })
  return createRunner(states)
}

/** Appends the states of an expression, each leading to the next index; false when there are too many. */
function emitAll(states: State[], root: Expression): boolean {
  let visits = 0
  const push = (state: State): State => {
    states.push(state)
    return state
  }
  const emit = (node: Expression): boolean => {
    if (++visits > MAX_VISITS || states.length >= MAX_STATES) return false
    const here = states.length
    if (node.kind === 'sequence') return node.items.every((item) => emit(item))
    if (node.kind === 'choice') return emitChoice(node.options)
    if (node.kind === 'repeat') return emitRepeat(node.item, node.min, node.max)
    if (node.kind === 'set') push({ op: SET, set: node.set, next: here + 1, other: -1 })
    else push({ op: ASSERT, what: node.what, next: here + 1, other: -1 })
    return true
  }
  const emitChoice = (options: readonly Expression[]): boolean => {
    const exits: State[] = []
    for (const [index, option] of options.entries()) {
      if (index === options.length - 1) {
        if (!emit(option)) return false
        continue
      }
      const split = push({ op: SPLIT, next: states.length + 1, other: -1 })
      if (!emit(option)) return false
      exits.push(push({ op: JUMP, next: -1, other: -1 }))
      split.other = states.length
    }
    for (const exit of exits) exit.next = states.length
    return true
  }
  const emitRepeat = (item: Expression, min: number, max: number): boolean => {
    for (let count = 0; count < min; count++) if (!emit(item)) return false
    if (max === Infinity) {
      const loop = states.length
      const split = push({ op: SPLIT, next: loop + 1, other: -1 })
      if (!emit(item)) return false
      push({ op: JUMP, next: loop, other: -1 })
      split.other = states.length
      return true
    }
    const splits: State[] = []
    for (let count = min; count < max; count++) {
      splits.push(push({ op: SPLIT, next: states.length + 1, other: -1 }))
      if (!emit(item)) return false
    }
    for (const split of splits) split.other = states.length
    return true
  }
  return emit(root) && states.length < MAX_STATES
}

const isWordCode = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f

function holds(what: Assertion, text: string, at: number): boolean {
  if (what === 'start') return at === 0
  if (what === 'end') return at === text.length
  const isBoundary = isWordCode(text.charCodeAt(at - 1)) !== isWordCode(text.charCodeAt(at))
  return isBoundary === (what === 'word-boundary')
}

function createRunner(states: readonly State[]): Nfa {
  // Work space, made once: a search runs to its end before another begins.
  let current = new Int32Array(states.length)
  let next = new Int32Array(states.length)
  // At which turn each state was last added. Turns count on through all searches, so nothing needs clearing.
  const seenAt = new Float64Array(states.length)
  let turn = 0
  const stack = new Int32Array(states.length * 2 + 1)
  // If the only way in is at the start of the text, a search may end as soon as no state is left.
  const anchored = states[0]!.what === 'start'

  return {
    search(text) {
      let steps = 0
      let matched = false
      let size = 0
      // Adds a state and all that it leads to without reading a character, at position `at`, to `list`.
      const add = (list: Int32Array, from: number, at: number): void => {
        let depth = 0
        stack[depth++] = from
        while (depth > 0) {
          const index = stack[--depth]!
          steps++
          if (seenAt[index] === turn) continue
          seenAt[index] = turn
          const state = states[index]!
          if (state.op === SET) list[size++] = index
          else if (state.op === MATCH) matched = true
          else if (state.op === ASSERT) {
            if (holds(state.what!, text, at)) stack[depth++] = state.next
          } else {
            stack[depth++] = state.next
            if (state.op === SPLIT) stack[depth++] = state.other
          }
        }
      }
      turn++
      for (let at = 0; ; at++) {
        if (at === 0 || !anchored) add(current, 0, at)
        if (matched || at === text.length || (anchored && size === 0)) return { matched, steps }
        const code = text.charCodeAt(at)
        const count = size
        size = 0
        turn++
        for (let index = 0; index < count; index++) {
          steps++
          const state = states[current[index]!]!
          if (state.set![code] === 1) add(next, state.next, at + 1)
        }
        const spare = current
        current = next
        next = spare
      }
    },
  }
}
