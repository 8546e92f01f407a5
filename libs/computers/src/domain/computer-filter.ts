import type { AssetId } from '#libs/kernel';
import { type Check, POSTURES, type Posture } from './posture';

/** Filters a list of computers. Members combine with AND; an absent one does not filter. */
export interface ComputerFilter {
  readonly isMonitored?: boolean;
  readonly ids?: readonly AssetId[];
  readonly ownerId?: AssetId;
  /** Whether the owner is a visible employee. Null owners are neither. */
  readonly ownerVisible?: boolean;
  readonly serialNumber?: string;
  /** Every source's, unless `source` is there. */
  readonly externalId?: string;
  readonly source?: string;
  /** One of these checks is known to be false. */
  readonly failingAnyOf?: readonly Check[];
  /** One of these checks is not known. */
  readonly unknownAnyOf?: readonly Check[];
  /** Exclusive. A computer that was never checked was so before any time. */
  readonly lastCheckedBefore?: Date;
}

/** Returns the postures that match the filter; all of them without a filter of postures. */
export function posturesOf({ isMonitored, failingAnyOf, unknownAnyOf }: ComputerFilter): Posture[] {
  return POSTURES.filter(
    (posture) =>
      (isMonitored === undefined || isMonitored === posture.isMonitored) &&
      (failingAnyOf === undefined || failingAnyOf.some((check) => posture.checks[check] === 'FAILING')) &&
      (unknownAnyOf === undefined || unknownAnyOf.some((check) => posture.checks[check] === 'UNKNOWN')),
  );
}
