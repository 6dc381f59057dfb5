import { findFreePort } from '../demo/find-free-port.ts'
import { PodDouble, type PodOptions } from './pod-double.ts'
import type { PodTemplate } from './pod-spec.ts'
import { ServiceDouble } from './service-double.ts'

/** The ports of one pod; they differ between pods, because all run on one machine. */
export interface PodPorts {
  readonly data: number
  readonly admin: number
  readonly engine: number
}

/** How long a pod may take to become ready on a busy machine. */
const patienceSeconds = 240

/** Stands in for a Deployment with maxSurge 1 and maxUnavailable 0, and for the Service in front of it. */
export class DeploymentDouble {
  readonly service: ServiceDouble
  readonly #options: PodOptions
  readonly #deleted: Promise<void>[] = []
  #pods: PodDouble[] = []

  private constructor(service: ServiceDouble, options: PodOptions) {
    this.service = service
    this.#options = options
  }

  /** Starts `replicas` pods; `template` renders the chart for a pod's ports. */
  static async start(
    replicas: number,
    template: (ports: PodPorts) => PodTemplate,
    options: PodOptions,
  ): Promise<DeploymentDouble> {
    const deployment = new DeploymentDouble(await ServiceDouble.start(), options)
    try {
      await Promise.all(Array.from({ length: replicas }, () => deployment.#add(template)))
      await deployment.#tell()
    } catch (error) {
      await deployment.close()
      throw error
    }
    return deployment
  }

  get pods(): readonly PodDouble[] {
    return this.#pods
  }

  /** Replaces all pods one at a time, as a rolling update does. Returns the old pods once they have ended. */
  async rollOut(template: (ports: PodPorts) => PodTemplate): Promise<PodDouble[]> {
    const old = [...this.#pods]
    for (const pod of old) {
      await this.#add(template)
      this.#pods = this.#pods.filter((other) => other !== pod)
      this.#deleted.push(pod.delete())
      void this.#tell()
    }
    await Promise.all(this.#deleted)
    return old
  }

  async close(): Promise<void> {
    this.service.close()
    await Promise.all(this.#pods.map((pod) => pod.kill()))
    await Promise.all(this.#deleted)
  }

  async #add(template: (ports: PodPorts) => PodTemplate): Promise<void> {
    const ports = { data: await findFreePort(), admin: await findFreePort(), engine: await findFreePort() }
    const pod = new PodDouble(template(ports), this.#options, () => void this.#tell())
    this.#pods = [...this.#pods, pod]
    await pod.start()
    await pod.untilReady(patienceSeconds)
  }

  #tell(): Promise<void> {
    return this.service.setPods(this.#pods)
  }
}
