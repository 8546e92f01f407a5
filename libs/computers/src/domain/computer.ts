import { type AssetId, DomainError, type Owner, type Tag } from '#libs/kernel';

/** Monitoring results. Null means unknown, never false. */
export interface CompliancePosture {
  readonly agentVersion: string | null;
  readonly antivirusInstalled: boolean | null;
  readonly diskEncryptionEnabled: boolean | null;
  readonly passwordManagerInstalled: boolean | null;
  readonly screenLockEnabled: boolean | null;
}

/** A visible COMPUTER asset with its posture. The id is the asset's. */
export interface Computer {
  readonly id: AssetId;
  readonly name: string;
  readonly operatingSystem: string | null;
  readonly osVersion: string | null;
  readonly serialNumber: string | null;
  readonly ownerId: AssetId | null;
  /** Only where it was asked for. Null without an owner, and when the owner is no visible employee. */
  readonly owner?: Owner | null;
  /** True when an agent or a device management has reported the device. */
  readonly isMonitored: boolean;
  readonly lastCheckedAt: Date | null;
  /** When the last visible change was made. A check-in that moves only `lastCheckedAt` is none. */
  readonly updatedAt: Date;
  /** The import source that it comes from. */
  readonly source: string;
  readonly tags: readonly Tag[];
  readonly compliance: CompliancePosture;
}

/**
 * The computer is unknown, hidden, deleted, another workspace's, or another kind of asset. Clients cannot tell these
 * apart.
 */
export class ComputerNotFound extends DomainError {
  constructor() {
    super('not_found', 'No computer has this id.');
  }
}
