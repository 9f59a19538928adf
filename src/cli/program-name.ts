/** How this program was started, for commands that people are told to type. */
export function programName(env: Readonly<Record<string, string | undefined>>): string {
  return env['npm_lifecycle_event'] === 'npx' ? 'npx tiptoe' : 'tiptoe'
}
