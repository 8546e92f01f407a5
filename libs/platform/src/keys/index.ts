export { removeFromCursorKeysFile, readCursorKeysFile } from './cursor-keys-file';
export { listKeys, removeKey, rotateKey } from './key-files';
export { CHECKPOINT_KEYS, CURSOR_KEYS, KEY_KINDS, type KeyKind, TOKEN_KEYS } from './key-kinds';
export { KeyRereading } from './key-rereading';
export { type DatedKey, type KeyUse, LastKey, keyInUse, newestFirst, usedFrom } from './key-rotation';
export { assertKeysReadable, makeMissingKeys } from './missing-keys';
export { PemKeys, PublicKeys } from './pem-keys';
export { type SecretFile, readSecret } from './secret-files';
