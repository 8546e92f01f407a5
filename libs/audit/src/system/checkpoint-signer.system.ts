import { type KeyObject, type KeyPairKeyObjectResult, hash, sign } from 'node:crypto';
import { DomainError, type WorkspaceId } from '#libs/kernel';
import { CheckpointSigner } from '../domain/checkpoint-signer.port';
import type { CheckpointKeys } from './checkpoint-keys';

/** Signs with the current key in SIGNING_KEYS_DIR. */
export class CheckpointSignerSystem extends CheckpointSigner {
  /** `host` is that of BASE_URL, with the port if it has one. */
  constructor(
    private readonly keys: CheckpointKeys,
    private readonly host: string,
  ) {
    super();
  }

  sign(workspaceId: WorkspaceId, size: number, root: string): string {
    const key = this.keys.inUse();
    if (!key) {
      throw new DomainError('service_unavailable', 'There is no key for checkpoints yet.');
    }
    return signCheckpoint(`${this.host}/audit/${workspaceId}`, size, root, key.material);
  }
}

/** The identifier of Ed25519 signatures (C2SP signed-note). */
const ED25519 = Buffer.of(1);

/**
 * Returns the signed note of a checkpoint (C2SP tlog-checkpoint and signed-note). `origin` names the tree and the key. It
 * has neither spaces nor a plus sign. The root is hexadecimal.
 */
export function signCheckpoint(origin: string, size: number, root: string, key: KeyPairKeyObjectResult): string {
  const text = `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`;
  const signature = Buffer.concat([noteKeyId(origin, key.publicKey), sign(null, Buffer.from(text), key.privateKey)]);
  return `${text}\n— ${origin} ${signature.toString('base64')}\n`;
}

/** Returns the four bytes that name a key in a signature line. */
function noteKeyId(name: string, publicKey: KeyObject): Buffer {
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const parts = [Buffer.from(`${name}\n`), ED25519, Buffer.from(x, 'base64url')];
  return hash('sha256', Buffer.concat(parts), 'buffer').subarray(0, 4);
}
