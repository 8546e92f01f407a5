// The committed record of the contract that each generator last passed.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** `file` maps the name of a generator to the SHA-256 of the contract that it passed. */
export class Stamp {
  constructor(file, contractFile) {
    this.file = file;
    this.contract = hashOf(contractFile);
    this.passed = JSON.parse(readFileSync(file, 'utf8'));
  }

  isStale(name) {
    return this.passed[name] !== this.contract;
  }

  /** Records that these generators passed the contract. */
  add(names) {
    for (const name of names) this.passed[name] = this.contract;
    const sorted = Object.entries(this.passed).sort(([one], [other]) => (one < other ? -1 : 1));
    writeFileSync(this.file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }
}
