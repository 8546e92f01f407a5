import { join } from 'node:path';

/** The contract of this code, with the default base URL. */
export const CONTRACT_FILE = join(__dirname, '../../docs/contract/openapi.json');
/** The contract of the last release. Later contracts may only add to it. */
export const RELEASED_FILE = join(__dirname, '../../docs/contract/released.json');
