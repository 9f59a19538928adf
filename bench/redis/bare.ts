/** What the server can do when nothing is asked of it but to keep numbers: SADD, one after another, without waiting. */
import { once } from 'node:events'
import { connect } from 'node:net'

/** Commands that are under way at most. */
const WINDOW = 10_000

export async function pipelinedSadd(port: number, count: number, memberOf: (index: number) => string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let answered = 0
  let awaited = 0
  let wake = (): void => {}
  socket.on('data', (chunk) => {
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) answered += 1
    if (answered >= awaited) wake()
  })
  for (let sent = 0; sent < count;) {
    const until = Math.min(sent + WINDOW, count)
    let text = ''
    for (; sent < until; sent++) {
      const member = memberOf(sent)
      text += `*3\r\n$4\r\nSADD\r\n$4\r\nbare\r\n$${member.length}\r\n${member}\r\n`
    }
    awaited = sent
    const all = new Promise<void>((resolve) => (wake = resolve))
    socket.write(text)
    await all
  }
  socket.end()
}
