/** A web small enough to be crawled in a moment, with one page of every fate. */
import { createLoopbackWeb, type Answer, type LoopbackWeb } from '../demo/index.ts'

const page = (title: string, ...links: string[]): Answer => ({
  body: `<!doctype html><title>${title}</title><main><p>This is ${title}.</p>${links.map((link) => `<a href="${link}">${link}</a>`).join('')}</main>`,
})

export async function createSmallTown(): Promise<LoopbackWeb> {
  return createLoopbackWeb({
    'a.test': {
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private/\nCrawl-delay: 0.03\n' },
      '/': page('home', '/one', '/two', '/private/x', '/old', '/gone'),
      '/one': page('one', '/deep', '/two'),
      '/two': page('two'),
      '/deep': page('deep', '/deeper'),
      '/deeper': page('deeper'),
      '/old': { status: 301, headers: { location: '/new' } },
      '/new': page('new'),
    },
    'b.test': { '/': page('b', '/b1'), '/b1': page('b1') },
  })
}
