/** How the proxy learns what an engine has cached: through our plugin's callbacks or the engine's own KV events. */
export type Source = 'callbacks' | 'kv-events'

/** The result of an engine's set-up, needed to start it. */
export interface EngineInstallation {
  readonly python: string
  readonly model: string
}

/** The ports of an engine, which it keeps when it is restarted. */
export interface EnginePorts {
  readonly api: number
  readonly events: number
  readonly replay: number
}

/** How to start an engine for a test; the tests of different engines differ only in this. */
export interface EngineSpec {
  readonly name: string
  readonly kind: 'vllm' | 'sglang'
  /** tokens in a block of its cache */
  readonly blockSize: number
  /** the source by which it also tells of what it keeps in host memory; undefined: it keeps nothing there */
  readonly offloads?: Source
  /** prepares what a source needs, in the test's own folder */
  prepare(installation: EngineInstallation, source: Source, folder: string): Promise<void>
  /** returns the command that starts the engine; `callbackUrl`: where the plugin reports to */
  command(options: {
    readonly installation: EngineInstallation
    readonly source: Source
    readonly ports: EnginePorts
    readonly callbackUrl: string
    readonly folder: string
  }): { readonly file: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

/** The name under which every engine serves its model. */
export const modelName = 'test'

/** The subfolder of an engine's own folder where it keeps segments, if it has a disk for them. */
export const segmentsFolder = 'segments'
