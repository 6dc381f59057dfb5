import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { EngineTlsFiles, ListenerTlsFiles } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import type { ListenerTls } from '../http/listener.ts'

/** Reads the certificates of a listener. Throws a ConfigError if they cannot be used. */
export function readListenerTls(files: ListenerTlsFiles | undefined): ListenerTls | undefined {
  if (files === undefined) return undefined
  const { cert, key, clientCa } = files
  const tls: ListenerTls = {
    cert: read('tls.cert', cert),
    key: read('tls.key', key),
    clientCa: clientCa === undefined ? undefined : read('tls.client_ca', clientCa),
  }
  check(`tls (${cert}, ${key}${clientCa === undefined ? '' : `, ${clientCa}`})`, { ...tls, ca: tls.clientCa })
  return tls
}

/** Reads the certificate that we present to an engine and those we trust. Throws a ConfigError if one is unusable. */
export function readEngineTls(files: EngineTlsFiles | undefined): EngineTls | undefined {
  return readClientTls('engines[].tls', files)
}

/** Reads the certificate that we present to Redis and those we trust. Throws a ConfigError if one is unusable. */
export function readRedisTls(files: EngineTlsFiles | undefined): EngineTls | undefined {
  return readClientTls('redis.tls', files)
}

function readClientTls(setting: string, files: EngineTlsFiles | undefined): EngineTls | undefined {
  if (files === undefined) return undefined
  const { serverName, ...pem } = files
  const tls: { [name in 'ca' | 'cert' | 'key']?: Buffer } = {}
  for (const name of ['ca', 'cert', 'key'] as const) {
    const file = pem[name]
    if (file !== undefined) tls[name] = read(`${setting}.${name}`, file)
  }
  check(`${setting} (${Object.values(pem).filter(Boolean).join(', ')})`, tls)
  return { ...tls, ...(serverName === undefined ? {} : { serverName }) }
}

function read(setting: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ConfigError(`${setting}: ${file} cannot be read: ${(error as Error).message}`)
  }
}

function check(setting: string, pem: SecureContextOptions): void {
  try {
    createSecureContext(pem)
  } catch (error) {
    throw new ConfigError(
      `${setting}: not a certificate in PEM and the key that belongs to it: ${(error as Error).message}`,
    )
  }
}
