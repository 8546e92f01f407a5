import { DomainError, type WorkspaceId } from '#libs/kernel';
import { CheckpointSigner } from '../domain/checkpoint-signer.port';
import type { CheckpointKeys } from './checkpoint-keys';
import { signCheckpoint } from './signed-note';

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
    return signCheckpoint({ origin: `${this.host}/audit/${workspaceId}`, size, root }, key);
  }
}
