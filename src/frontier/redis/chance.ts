/** What must be unlike anything of its kind anywhere: the generation of a crawl, the name of one opening of it. */
import { randomBytes, randomInt } from 'node:crypto'

/** 32 hex digits. */
export const drawGeneration = (): string => randomBytes(16).toString('hex')

/** 12 characters. */
export const drawClient = (): string => randomBytes(9).toString('base64url')

/** For jitter. */
export const drawSeed = (): number => randomInt(2 ** 32)
