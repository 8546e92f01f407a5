import { readFile, stat } from 'node:fs/promises';
import { WrongUsage } from '../command-faults';
import { fromCaller } from '../options';

/** A public key is a few hundred bytes, and a key set has a hundred of them at most. */
const LARGEST_FILE = 262_144;

/** Reads a file with a JWK or a JWK set. */
export async function readKeyFile(path: string): Promise<string> {
  const file = fromCaller(path);
  if ((await stat(file)).size > LARGEST_FILE) throw new WrongUsage(`${path} is larger than ${LARGEST_FILE} bytes.`);
  return readFile(file, 'utf8');
}
