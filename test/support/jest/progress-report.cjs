// Keeps the report of a run up to date while it goes on, for whoever has to stop it: jest itself writes one at the end.
const { renameSync, writeFileSync } = require('node:fs');

class ProgressReport {
  constructor({ outputFile }) {
    this.file = outputFile;
    this.unfinished = new Set();
  }

  onTestFileStart({ path }) {
    this.unfinished.add(path);
  }

  onTestFileResult({ path }, _result, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    this.unfinished.delete(path);
    if (!this.file) return;
    const counts = { numPassedTests, numFailedTests, numRuntimeErrorTestSuites };
    writeFileSync(`${this.file}.new`, JSON.stringify({ ...counts, testResults: [], unfinished: [...this.unfinished] }));
    renameSync(`${this.file}.new`, this.file);
  }
}

module.exports = ProgressReport;
