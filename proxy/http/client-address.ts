import type { Socket } from 'node:net'

/** The address at the other end of a connection, as it is logged; undefined when the connection has ended. */
export function clientAddress(socket: Pick<Socket, 'remoteAddress'> | null | undefined): string | undefined {
  return socket?.remoteAddress?.replace(/^::ffff:/, '')
}
