/** Where the proxy learns from what an engine has cached: from our plugin in it, or from the engine's own KV events. */
export type Source = 'callbacks' | 'kv-events'

/** What is needed to start an engine: what its set-up has made. */
export interface EngineInstallation {
  readonly python: string
  readonly model: string
}

/** The addresses of an engine, which it keeps when it is started again. */
export interface EnginePorts {
  readonly api: number
  readonly events: number
  readonly replay: number
}

/** How an engine is started for a test: a process whose tests differ only in this. */
export interface EngineSpec {
  readonly name: string
  readonly kind: 'vllm' | 'sglang'
  /** tokens in a block of its cache */
  readonly blockSize: number
  /** makes ready what a source needs, in a folder of the test's own */
  prepare(installation: EngineInstallation, source: Source, folder: string): Promise<void>
  /** `callbackUrl`: where the plugin reports to */
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
