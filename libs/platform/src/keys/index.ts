export { listCursorKeys, removeCursorKey, rotateCursorKey } from './cursor-key-file';
export { newCursorKeyFile } from './cursor-keys';
export { makeSecretDirectoryOnce, makeSecretFileOnce } from './key-files';
export { withKeyLock } from './key-lock';
export { SHORTEST_AUDIT_KEY, SHORTEST_PEPPER, assertKeysReadable, unreadableKey } from './key-presence';
export { type KeyReading, KeyRereading, type RereadableKeys } from './key-rereading';
export { type DatedKey, KeysUnusable, LastKey, keyInUse, madeAfter, newestFirst, usedFrom } from './key-rotation';
