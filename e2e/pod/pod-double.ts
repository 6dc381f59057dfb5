import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ContainerDouble, type ImageDouble } from './container-double.ts'
import type { Container, PodTemplate, Probe } from './pod-spec.ts'

export interface PodOptions {
  /** by image name without tag or digest */
  readonly images: Readonly<Record<string, ImageDouble>>
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly workingFolder: string
}

/** Something that happened to a pod. */
export interface PodEvent {
  readonly container: string
  readonly what: 'started' | 'ready' | 'unready' | 'stop hook' | 'stop hook over' | 'SIGTERM' | 'ended' | 'restarted'
  readonly detail?: number | string | undefined
}

const address = '127.0.0.1'
/** The minimum grace period the kubelet grants a container, however long its hooks took. */
const leastGraceSeconds = 2
/** Delay before an ended container is restarted, as the kubelet's after a first end. */
const restartMilliseconds = 1_000

/**
 * Stands in for the kubelet: runs a pod's containers as processes on this machine. It runs init containers in order,
 * waiting for the startup probes of native sidecars; it probes and restarts containers. It ends a pod like the
 * kubelet's `killContainer`: all stop hooks at once, then SIGTERM to each container after its hook, and to a sidecar
 * only after everything started after it has ended.
 */
export class PodDouble {
  readonly template: PodTemplate
  readonly events: PodEvent[] = []
  readonly #folder: string
  readonly #containers = new Map<string, ContainerDouble>()
  readonly #ready = new Set<string>()
  readonly #onChange: () => void
  #isEnding = false

  constructor(template: PodTemplate, { images, secrets = {}, workingFolder }: PodOptions, onChange = (): void => {}) {
    this.template = template
    this.#onChange = onChange
    this.#folder = mkdtempSync(join(tmpdir(), 'reprise-pod-'))
    this.#fillVolumes()
    for (const spec of [...(template.spec.initContainers ?? []), ...template.spec.containers]) {
      const image = images[spec.image.replace(/[:@][^/]*$/, '')]
      if (!image) throw new Error(`there is nothing here that stands in for the image ${spec.image}`)
      this.#containers.set(
        spec.name,
        new ContainerDouble(spec, { image, mounts: this.#mountsOf(spec), secrets, address, workingFolder }),
      )
    }
  }

  /** Whether a Service would send traffic to it. */
  get isReady(): boolean {
    return !this.#isEnding && this.#lasting.every(({ spec }) => this.#ready.has(spec.name))
  }

  container(name: string): ContainerDouble {
    return this.#containers.get(name)!
  }

  portOf(name: string): number {
    return this.#lasting.flatMap(({ spec }) => spec.ports ?? []).find((port) => port.name === name)!.containerPort
  }

  get log(): string {
    return [...this.#containers.values()].map(({ tail }) => tail).join('\n')
  }

  /** Starts its containers in order. Rejects if an init container fails. */
  async start(): Promise<void> {
    for (const spec of this.template.spec.initContainers ?? []) {
      const container = this.container(spec.name)
      this.#begin(container)
      if (spec.restartPolicy === 'Always') {
        if (spec.startupProbe) await this.#untilStarted(container, spec.startupProbe)
        void this.#lookAfter(container)
      } else if ((await container.exited) !== 0) {
        throw new Error(`init container ${container.tail}`)
      }
    }
    for (const spec of this.template.spec.containers) {
      this.#begin(this.container(spec.name))
      void this.#lookAfter(this.container(spec.name))
    }
  }

  /** Waits until it is ready. */
  async untilReady(seconds: number): Promise<void> {
    for (const end = Date.now() + seconds * 1000; !this.isReady; ) {
      if (Date.now() > end) throw new Error(`a pod was not ready after ${seconds} s:\n${this.log}`)
      await pause(50)
    }
  }

  /** Rewrites a mounted ConfigMap, as the kubelet does some time after a change. */
  changeConfigMap(name: string, data: Readonly<Record<string, string>>): void {
    for (const { name: volume, configMap } of this.template.spec.volumes ?? []) {
      if (configMap?.name === name) writeFiles(this.#volumeFolder(volume), data)
    }
  }

  /** Ends it as the kubelet does. */
  async delete(): Promise<void> {
    this.#isEnding = true
    this.#onChange()
    const end = Date.now() + this.template.spec.terminationGracePeriodSeconds * 1000
    const left = (): number => Math.max(leastGraceSeconds, (end - Date.now()) / 1000)
    const ended = new Map<string, Promise<void>>()
    const { initContainers = [], containers } = this.template.spec
    for (const { name } of containers) ended.set(name, this.#end(this.container(name), left, []))
    // sidecars in reverse order
    for (const { name } of initContainers.filter(({ restartPolicy }) => restartPolicy).toReversed()) {
      ended.set(name, this.#end(this.container(name), left, [...ended.values()]))
    }
    await Promise.all(ended.values())
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Kills all containers at once, after a test. */
  async kill(): Promise<void> {
    this.#isEnding = true
    for (const container of this.#containers.values()) container.signal('SIGKILL')
    await Promise.all([...this.#containers.values()].map(({ exited }) => exited))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #end(container: ContainerDouble, left: () => number, before: readonly Promise<void>[]): Promise<void> {
    const { name, lifecycle } = container.spec
    if (lifecycle?.preStop) {
      this.#note(name, 'stop hook')
      this.#note(name, 'stop hook over', await container.exec(lifecycle.preStop.exec.command, left()))
    }
    await Promise.race([Promise.all(before), pause(left() * 1000, undefined, { ref: false })])
    if (container.isRunning) this.#note(name, 'SIGTERM')
    await container.stop(left())
  }

  get #lasting(): ContainerDouble[] {
    const { initContainers = [], containers } = this.template.spec
    return [...initContainers.filter(({ restartPolicy }) => restartPolicy), ...containers].map(({ name }) =>
      this.container(name),
    )
  }

  #begin(container: ContainerDouble): void {
    container.start()
    const { name } = container.spec
    this.#note(name, 'started')
    void container.exited.then((code) => {
      this.#note(name, 'ended', code)
      this.#setReady(container, false)
    })
  }

  /** Probes a container while it runs, and restarts it when it has ended. */
  async #lookAfter(container: ContainerDouble): Promise<void> {
    const { startupProbe, name } = container.spec
    for (;;) {
      const life = new AbortController()
      void this.#probeWhileRunning(container, startupProbe, life.signal)
      await container.exited
      life.abort()
      if (this.#isEnding) return
      await pause(restartMilliseconds)
      if (this.#isEnding) return
      this.#note(name, 'restarted')
      this.#begin(container)
    }
  }

  async #probeWhileRunning(
    container: ContainerDouble,
    startupProbe: Probe | undefined,
    life: AbortSignal,
  ): Promise<void> {
    const { livenessProbe, readinessProbe } = container.spec
    if (startupProbe) await this.#untilStarted(container, startupProbe, life)
    if (!readinessProbe) this.#setReady(container, true)
    const readiness =
      readinessProbe && this.#repeat(container, readinessProbe, life, (isFine) => this.#setReady(container, isFine))
    const liveness =
      livenessProbe &&
      this.#repeat(container, livenessProbe, life, (isFine) => {
        if (!isFine) void container.stop(this.template.spec.terminationGracePeriodSeconds)
      })
    await Promise.all([readiness, liveness])
  }

  async #untilStarted(container: ContainerDouble, probe: Probe, life?: AbortSignal): Promise<void> {
    for (let failures = 0; !life?.aborted && !this.#isEnding; ) {
      if (await container.probe(probe)) return
      if (!container.isRunning) throw new Error(`ended while it started: ${container.tail}`)
      failures += 1
      if (failures >= probe.failureThreshold) throw new Error(`was not started in time: ${container.tail}`)
      await pause(probe.periodSeconds * 1000)
    }
  }

  /**
   * Probes repeatedly: calls `tell(true)` on each success, `tell(false)` once `failureThreshold` in a row have failed.
   */
  async #repeat(
    container: ContainerDouble,
    probe: Probe,
    life: AbortSignal,
    tell: (isFine: boolean) => void,
  ): Promise<void> {
    let failures = 0
    while (!life.aborted && !this.#isEnding) {
      const isFine = await container.probe(probe)
      if (life.aborted) return
      failures = isFine ? 0 : failures + 1
      if (isFine) tell(true)
      else if (failures >= probe.failureThreshold) tell(false)
      await pause(probe.periodSeconds * 1000)
    }
  }

  #setReady({ spec: { name } }: ContainerDouble, isReady: boolean): void {
    if (this.#ready.has(name) === isReady) return
    if (isReady) this.#ready.add(name)
    else this.#ready.delete(name)
    this.#note(name, isReady ? 'ready' : 'unready')
    this.#onChange()
  }

  #note(container: string, what: PodEvent['what'], detail?: number | string): void {
    this.events.push({ container, what, detail })
  }

  #fillVolumes(): void {
    for (const { name, configMap } of this.template.spec.volumes ?? []) {
      mkdirSync(this.#volumeFolder(name), { recursive: true })
      if (configMap) writeFiles(this.#volumeFolder(name), this.template.configMaps[configMap.name]!)
    }
  }

  #volumeFolder(name: string): string {
    return join(this.#folder, name)
  }

  #mountsOf({ volumeMounts = [] }: Container): Record<string, string> {
    return Object.fromEntries(volumeMounts.map(({ name, mountPath }) => [mountPath, this.#volumeFolder(name)]))
  }
}

/** Writes a pod's files. What listens on all of its addresses listens on the loopback here. */
function writeFiles(folder: string, data: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(folder, name), text.replaceAll('0.0.0.0:', '127.0.0.1:'))
  }
}
