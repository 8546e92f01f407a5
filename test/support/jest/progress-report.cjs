// Updates the report during a run, in case the run is stopped; jest writes one only at the end. Also adds the omitted
// files, which jest does not know.
const { renameSync, writeFileSync } = require('node:fs');
const { leftOut, leftOutLines } = require('./needed-programs.cjs');

class ProgressReport {
  constructor({ outputFile }) {
    this.file = outputFile;
    this.unfinished = new Set();
    this.counts = { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };
  }

  onTestFileStart({ path }) {
    this.unfinished.add(path);
    this.write();
  }

  onTestFileResult({ path }, _result, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    this.unfinished.delete(path);
    this.counts = { numPassedTests, numFailedTests, numRuntimeErrorTestSuites };
    this.write();
  }

  /** jest copies additions to `results` into its own report. */
  onRunComplete(_contexts, results) {
    results.leftOut = leftOut;
    if (!this.file) for (const line of leftOutLines(leftOut)) process.stderr.write(`${line}\n`);
  }

  write() {
    if (!this.file) return;
    const report = { ...this.counts, testResults: [], unfinished: [...this.unfinished], leftOut };
    writeFileSync(`${this.file}.new`, JSON.stringify(report));
    renameSync(`${this.file}.new`, this.file);
  }
}

module.exports = ProgressReport;
