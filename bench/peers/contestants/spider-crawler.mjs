/** A crawl of one host by spider-rs. Started by spider.ts with the folder of the modules and the URL. */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, url] = process.argv.slice(2)
const { Website } = createRequire(join(modules, 'package.json'))('@spider-rs/spider-rs')

await new Website(url).withRespectRobotsTxt(true).withDelay(0).withDepth(0).build().crawl()
