import type { Reporter, TestModule } from 'vitest/node'

/** Prints a line for every skipped test, in the form that `run-suites.sh` reads. */
export default class ReportSkipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const { fullName, module: file } of module.children.allTests('skipped')) {
        process.stdout.write(`SKIPPED ${file.relativeModuleId}: ${fullName}\n`)
      }
    }
  }
}
