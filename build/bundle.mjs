/**
 * Puts the command line of `dist/` together into a few files, `dist/start/`: a start reads these in place of hundreds
 * (ADR 23). Threads and whatever else is found by its place go on being read from `dist/`. Beside it, what it was made
 * from, so that the launcher can see in a clone whether that is still what stands there.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const out = join(dist, 'start')
/** Whoever wants these has installed them. */
const OPTIONAL = /^@redis\//

/** A module of ours knows where it stands, though its text is elsewhere. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(dist) || !code.includes('import.meta')) return null
    const place = relative(out, id).replaceAll('\\', '/')
    return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`)
  },
}

rmSync(out, { recursive: true, force: true })
const bundle = await rolldown({
  input: join(dist, 'cli', 'main.js'),
  platform: 'node',
  external: OPTIONAL,
  plugins: [keepPlaces],
  onLog(level, log) {
    if (level !== 'info') throw new Error(log.message)
  },
})
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  chunkFileNames: '[name].js',
  comments: false,
  // Text of one byte for each character is read faster. Otherwise it stays as it was written.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
})
await bundle.close()
writeLicences(output.flatMap((chunk) => chunk.moduleIds ?? []))
writeSources()

/** The words under which the packages that went in may be handed on. */
function writeLicences(modules) {
  const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []))
  const texts = [...folders].map((folder) => {
    const licence = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
    if (licence === undefined) throw new Error(`${folder} has no licence that could be copied`)
    return `${relative(join(root, 'node_modules'), folder)}\n\n${readFileSync(join(folder, licence), 'utf8').trim()}\n`
  })
  writeFileSync(join(out, 'LICENCES.txt'), texts.join('\n----\n\n'))
}

/** Every file of the sources with its size and the time of its last change. */
function writeSources() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts') && !entry.parentPath.includes('test-support'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { size, mtimeMs } = statSync(path)
      return [relative(root, path).replaceAll('\\', '/'), size, mtimeMs]
    })
  writeFileSync(join(out, 'sources.json'), JSON.stringify(sources))
}
