// Keeps the report of a run up to date while it goes on, for whoever has to stop it: jest itself writes one at the end.
const { renameSync, writeFileSync } = require('node:fs');

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

  write() {
    if (!this.file) return;
    const report = { ...this.counts, testResults: [], unfinished: [...this.unfinished] };
    writeFileSync(`${this.file}.new`, JSON.stringify(report));
    renameSync(`${this.file}.new`, this.file);
  }
}

module.exports = ProgressReport;
