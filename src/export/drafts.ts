/**
 * Where an export goes: a file or a folder, written beside its place and moved there when it is whole. So what stands
 * under the name is always a whole export, and a failed one changes nothing.
 *
 * What is there already is only replaced if that was asked for; a folder only if an export has made it, since all that
 * it holds goes with it.
 */
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder, VERSION } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

/** What tells a folder that an export has made. */
const MARK = 'export.json'

export interface DraftFile {
  /** Bytes written so far. */
  readonly bytes: number
  write(bytes: Uint8Array | string): void
  /** Puts these bytes in the place of what was written there. */
  patch(position: number, bytes: Uint8Array): void
}

/** Runs `work` on a draft of the file, and puts it in its place if nothing was thrown. */
export async function writeDraftFile<T>(
  path: string,
  options: { readonly replace: boolean },
  work: (file: DraftFile) => Promise<T>,
): Promise<T> {
  refuseToReplace(path, options.replace, (found) => found.isFile())
  const draft = `${path}.part`
  makeFolder(dirname(path))
  const result = await writeFile(draft, work).catch((error: unknown) => {
    rmSync(draft, { force: true })
    throw explained(path, error)
  })
  renameSync(draft, path)
  return result
}

async function writeFile<T>(path: string, work: (file: DraftFile) => Promise<T>): Promise<T> {
  const descriptor = openSync(path, 'w')
  let bytes = 0
  const writeAt = (position: number, data: Uint8Array): void => {
    for (let at = 0; at < data.length;) at += writeSync(descriptor, data, at, data.length - at, position + at)
  }
  try {
    return await work({
      get bytes() {
        return bytes
      },
      write(data) {
        const buffer = typeof data === 'string' ? Buffer.from(data) : data
        writeAt(bytes, buffer)
        bytes += buffer.length
      },
      patch: writeAt,
    })
  } finally {
    closeSync(descriptor)
  }
}

export interface DraftFolder {
  /** A file in the folder, by its path with forward slashes. Returns its size. */
  write(path: string, text: Iterable<string>): number
}

/** The same for a folder; `mark` is what is written about it. */
export function writeDraftFolder<T extends object>(
  path: string,
  options: { readonly replace: boolean },
  work: (folder: DraftFolder) => T,
): T {
  refuseToReplace(path, options.replace, (found) => found.isDirectory() && isOurs(path))
  const draft = `${path}.part`
  if (existsSync(draft) && !isOurs(draft)) {
    throw new TiptoeError('usage', `${draft} is in the way`, { hint: 'remove it, or choose another name with --out' })
  }
  try {
    rmSync(draft, { recursive: true, force: true })
    makeFolder(draft)
    const mark = (more: object): void =>
      writeFileSync(join(draft, MARK), `${JSON.stringify({ software: `tiptoe ${VERSION}`, ...more }, null, 2)}\n`)
    mark({})
    const result = work({ write: (name, text) => writePieces(join(draft, name), text) })
    mark(result)
    rmSync(path, { recursive: true, force: true })
    renameSync(draft, path)
    return result
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw explained(path, error)
  }
}

/** Small pieces are gathered, so that each does not cost a call of the system. */
const GATHER = 1 << 16

function writePieces(path: string, text: Iterable<string>): number {
  makeFolder(dirname(path))
  const descriptor = openSync(path, 'wx')
  try {
    let bytes = 0
    let gathered = ''
    const flush = (): void => {
      const buffer = Buffer.from(gathered)
      for (let at = 0; at < buffer.length;) at += writeSync(descriptor, buffer, at)
      bytes += buffer.length
      gathered = ''
    }
    for (const piece of text) {
      gathered += piece
      if (gathered.length >= GATHER) flush()
    }
    flush()
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

type Found = NonNullable<ReturnType<typeof lstatSync>>

function refuseToReplace(path: string, replace: boolean, mayGo: (found: Found) => boolean): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!replace) {
    throw new TiptoeError('usage', `${path} is there already`, {
      hint: 'replace it with --force, or choose another name with --out',
    })
  }
  if (!mayGo(found)) {
    throw new TiptoeError('usage', `${path} was not made by tiptoe export, and is not replaced`, {
      hint: 'choose another name with --out, or remove it yourself',
    })
  }
}

function isOurs(folder: string): boolean {
  try {
    const { software } = JSON.parse(readFileSync(join(folder, MARK), 'utf8')) as { software?: unknown }
    return typeof software === 'string' && software.startsWith('tiptoe ')
  } catch {
    return false
  }
}

/** What the file system threw, with what to do about it. */
function explained(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (error instanceof TiptoeError || code === undefined || !/^E[A-Z]+$/.test(code)) return error
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const hint = isFull ? 'the disk is full: make room and try again' : 'check the folder, or choose another with --out'
  return new TiptoeError('output', `${path} cannot be written: ${message}`, { cause: error, hint })
}
