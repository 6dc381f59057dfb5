import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findFreePort } from '../demo/find-free-port.ts'
import type { ChildServer } from './start-child-server.ts'

/** Starts nginx as a plain single-process proxy in front of an engine. Returns undefined if nginx is not installed. */
export async function startNginx(engineUrl: string): Promise<ChildServer | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-nginx-'))
  const port = await findFreePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, port, new URL(engineUrl).host))
  // a user's PATH often lacks the folder where nginx is installed
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  })
  const stop = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', stop)
  const failed = once(child, 'error').then(
    () => true,
    () => true,
  )
  const isMissing = await Promise.race([failed, waitForPort(port).then(() => false)])
  return isMissing
    ? undefined
    : {
        url: `http://127.0.0.1:${port}`,
        adminUrl: undefined,
        pid: child.pid!,
        ask: () => Promise.reject(new Error('nginx loads no module')),
        stop,
      }
}

function configuration(folder: string, port: number, engine: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  return `
    daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 16384;
    pid ${folder}/nginx.pid; error_log stderr crit;
    events { worker_connections 8192; }
    http {
      access_log off; ${temporary}
      client_max_body_size 64m; keepalive_requests 100000000;
      upstream engine { server ${engine}; keepalive 4096; keepalive_requests 100000000; }
      server {
        listen 127.0.0.1:${port} backlog=4096;
        location / {
          proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 1h;
        }
      }
    }`
}

async function waitForPort(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await delay(25)
  }
  throw new Error('nginx did not start')
}
