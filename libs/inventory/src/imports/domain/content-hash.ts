import type { ImportRecord } from './import-record';

const NULL = 0x9e3779b9;

/** Returns a 32-bit hash of what a record says, never zero. It runs for every record, so it makes no text of it. */
export function contentHash(record: ImportRecord): number {
  const { dataStored, compliance } = record;
  let hash = withText(NULL, record.id);
  for (const text of [record.type, record.visibility, record.name, record.classification, record.description]) {
    hash = withText(hash, text);
  }
  for (const text of [record.ownerId, record.owner, record.ownerEmail, record.accountId, record.region, record.email]) {
    hash = withText(hash, text);
  }
  for (const text of [record.serialNumber, record.operatingSystem, record.osVersion, compliance.agentVersion]) {
    hash = withText(hash, text);
  }
  // A sum, so that their order does not count.
  let tags = 0;
  for (const { key, value } of record.tags) tags = (tags + spread(withText(withText(NULL, key), value))) | 0;
  hash = mixed(hash, tags);
  hash = withTime(withTime(withText(hash, dataStored.userDataInfo), record.createdAt), record.lastCheckedAt);
  let flags = record.tags.length;
  flags = flags * 3 + code(record.managed);
  flags = flags * 3 + code(dataStored.containsPatientData);
  flags = flags * 3 + code(dataStored.containsUserData);
  flags = flags * 3 + code(compliance.antivirusInstalled);
  flags = flags * 3 + code(compliance.diskEncryptionEnabled);
  flags = flags * 3 + code(compliance.passwordManagerInstalled);
  flags = flags * 3 + code(compliance.screenLockEnabled);
  return mixed(hash, flags) >>> 0 || 1;
}

const code = (flag: boolean | null): number => (flag === null ? 0 : flag ? 1 : 2);

/** A step of MurmurHash3. */
function mixed(hash: number, value: number): number {
  const step = Math.imul(value ^ (value >>> 15), 0xcc9e2d51);
  const next = hash ^ Math.imul((step << 15) | (step >>> 17), 0x1b873593);
  return Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64;
}

/** The last steps of MurmurHash3. Without them, sums of similar texts are often equal. */
function spread(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}

/** Characters are mixed as FNV-1a does, which is quicker. The length separates a text from the next one. */
function withText(hash: number, text: string | null): number {
  if (text === null) return mixed(hash, NULL);
  let next = hash;
  for (let index = 0; index < text.length; index += 1) next = Math.imul(next ^ text.charCodeAt(index), 0x01000193);
  return mixed(next, text.length);
}

function withTime(hash: number, time: Date | null): number {
  if (time === null) return mixed(hash, NULL);
  const milliseconds = time.getTime();
  return mixed(mixed(hash, milliseconds | 0), Math.floor(milliseconds / 2 ** 32));
}
