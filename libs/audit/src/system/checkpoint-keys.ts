import { CHECKPOINT_KEYS, PemKeys } from '#libs/platform/keys';
import type { Clock } from '#libs/kernel';

/** The keys that sign checkpoints. An instance starts without any, and warns. */
export class CheckpointKeys extends PemKeys {
  constructor(directory: string, clock: Clock) {
    super(CHECKPOINT_KEYS, directory, clock);
  }
}
