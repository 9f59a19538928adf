#!/usr/bin/env node
// The launcher. It is written in old syntax on purpose, so that a Node that is too old for Tiptoe still gets
// far enough to hand over to the Node pinned in node_modules, or to say in three lines what is needed.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const version = process.versions.node.split('.').map(Number)
const recent = version[0] > 22 || (version[0] === 22 && version[1] >= 19)

/** As much as the young space may be. */
const YOUNG_BYTES = 32 * 1024 * 1024
/** From so many bytes in use on, the percentage by which the heap may grow before it is looked through again. */
const HEAP_GROWTH = [
  [0, 110],
  [64 * 1024 * 1024, 40],
  [200 * 1024 * 1024, 20],
]

/**
 * So often a function has run before V8 compiles it as well as it can. What runs once for a page is repaid after many
 * thousand pages only; what runs for each tag or link gets there on the first few dozen.
 */
const RUNS_BEFORE_BEST_CODE = 24000

/** What was put together from all modules (ADR 23); in a clone whose sources have changed since, these as they stand. */
function entry() {
  const source = join(root, 'src', 'cli', 'main.ts')
  const start = join(root, 'dist', 'start', 'main.js')
  return existsSync(source) && !isMadeOfSources() ? source : start
}

/** Node strips the types of sources, and looks for each of them: that takes a tenth of a second. */
function isMadeOfSources() {
  const list = join(root, 'dist', 'start', 'sources.json')
  if (!existsSync(list)) return false
  return JSON.parse(readFileSync(list, 'utf8')).every(function (source) {
    const now = statSync(root + '/' + source[0], { throwIfNoEntry: false })
    return now !== undefined && now.size === source[1] && now.mtimeMs === source[2]
  })
}

/** The Node that npm installed beside us: ours to find in a clone, hoisted to a parent folder otherwise. */
function pinnedNode() {
  const name = 'node-' + process.platform + '-' + process.arch
  for (let folder = root; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name, 'bin', 'node')
    if (existsSync(candidate)) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

/** Started by an old Node's launcher: die with it, as if the signal that killed it had been ours. */
async function holdLifeline(fd) {
  const { Socket } = await import('node:net')
  const line = new Socket({ fd: Number(fd), readable: true, writable: false })
  line.on('error', function () {})
  line.on('close', function () {
    process.kill(process.pid, 'SIGKILL')
  })
  line.resume()
  line.unref()
}

/** Node 22 calls its SQLite experimental at every start; what is used of it is the same in Node 24 (ADR 2). */
function hushSqliteWarning() {
  const emitWarning = process.emitWarning
  process.emitWarning = function (warning, type) {
    const name = type !== null && typeof type === 'object' ? type.type : type
    if (name === 'ExperimentalWarning' && String(warning).indexOf('SQLite') === 0) return
    emitWarning.apply(process, arguments)
  }
}

/** What was compiled is kept beside the dependencies, which makes the next start three times as fast. */
async function keepCompiled() {
  const { enableCompileCache } = await import('node:module')
  if (existsSync(join(root, 'node_modules'))) enableCompileCache(join(root, 'node_modules', '.cache', 'tiptoe'))
}

/**
 * The room for short-lived objects doubles when many survive, up to 130 MB, and beyond a quarter of that is no faster for
 * it. Its bound can only be given to Node when it starts, but whether it doubles can be said at any time.
 */
function boundYoungSpace() {
  const watch = setInterval(function () {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    if (young === undefined || young.space_size < YOUNG_BYTES) return
    setFlagsFromString('--semi-space-growth-factor=1')
    clearInterval(watch)
  }, 50)
  watch.unref()
}

/** Left to itself the heap grows to four times what is in use: the larger it is, the more of that is for nothing. */
function boundHeap() {
  let next = 0
  function look() {
    const used = getHeapStatistics().used_heap_size
    for (; next < HEAP_GROWTH.length && used >= HEAP_GROWTH[next][0]; next++)
      setFlagsFromString('--heap-growing-percent=' + HEAP_GROWTH[next][1])
    if (next === HEAP_GROWTH.length) clearInterval(watch)
  }
  const watch = setInterval(look, 1000)
  watch.unref()
  look()
}

async function launch() {
  if (recent) {
    hushSqliteWarning()
    // The system's resolver and the files share these threads. With Node's four, two names whose servers do not answer
    // would hold up the names of all other hosts.
    if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '64'
    // Where there are two processors, helpers of the collector take them from the work.
    if (availableParallelism() <= 2) setFlagsFromString('--no-parallel-scavenge')
    setFlagsFromString('--invocation-count-for-turbofan=' + RUNS_BEFORE_BEST_CODE)
    boundYoungSpace()
    boundHeap()
    if (process.env.TIPTOE_LIFELINE !== undefined) {
      await holdLifeline(process.env.TIPTOE_LIFELINE)
      delete process.env.TIPTOE_LIFELINE
    }
    await keepCompiled()
    const { main } = await import(pathToFileURL(entry()).href)
    await main(process.argv.slice(2))
    return
  }
  const node = pinnedNode()
  if (node === undefined) {
    process.stderr.write(
      'tiptoe needs Node 22.19 or newer; this is Node ' +
        process.versions.node +
        '.\n' +
        'hint: run `npm install` in the folder of tiptoe, which brings its own Node on Linux,\n' +
        '      or install a newer Node from nodejs.org or your package manager.\n',
    )
    process.exitCode = 2
    return
  }
  // The child leads a session of its own, so that a signal reaches it exactly once: through us. The pipe is its
  // lifeline: when this process is killed outright the pipe closes, and the child goes down with it.
  const { spawn } = await import('node:child_process')
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    detached: true,
    // The C library gives each thread memory of its own, of which what was freed is not given back: 13 MB more.
    env: Object.assign({ MALLOC_ARENA_MAX: String(availableParallelism()) }, process.env, { TIPTOE_LIFELINE: '3' }),
  })
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal)
    })
  })
  child.on('error', function (error) {
    process.stderr.write(
      'tiptoe needs Node 22.19 or newer; the one at ' +
        node +
        ' cannot be started: ' +
        error.message +
        '\n' +
        'hint: install a newer Node from nodejs.org or your package manager.\n',
    )
    process.exit(2)
  })
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code === null ? 1 : code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

launch().catch(function (error) {
  process.stderr.write('tiptoe could not start: ' + (error && error.message ? error.message : error) + '\n')
  process.exit(3)
})
