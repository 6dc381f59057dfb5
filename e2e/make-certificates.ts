import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether openssl is installed, so that certificates can be made. */
export const hasOpenssl: boolean = spawnSync('openssl', ['version']).status === 0

/** The PEM files of a certificate and its key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** Makes a certificate authority for `issue`. */
export function makeAuthority(folder: string, name: string): CertificateFiles {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-out',
    files.cert,
    '-keyout',
    files.key,
  )
  return files
}

/** Makes a certificate for a name or address (`DNS:…`, `IP:…`), signed by the authority. `days`: how long it is valid. */
export function issue(
  folder: string,
  name: string,
  authority: CertificateFiles,
  subject: string,
  days = 2,
): CertificateFiles {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  const [request, extensions] = [join(folder, `${name}.csr`), join(folder, `${name}.ext`)]
  writeFileSync(extensions, `subjectAltName=${subject}\n`)
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    `/CN=${name}`,
    '-out',
    request,
    '-keyout',
    files.key,
  )
  openssl(
    'x509',
    '-req',
    '-in',
    request,
    '-CA',
    authority.cert,
    '-CAkey',
    authority.key,
    '-CAcreateserial',
    '-days',
    String(days),
    '-extfile',
    extensions,
    '-out',
    files.cert,
  )
  return files
}

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr}`)
}
