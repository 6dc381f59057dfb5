import type { Socket } from 'node:net'

/** The client's address as it is logged; undefined if the connection has ended. */
export function clientAddress(socket: Pick<Socket, 'remoteAddress'> | null | undefined): string | undefined {
  return socket?.remoteAddress?.replace(/^::ffff:/, '')
}
