import { assetId } from '#libs/kernel';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';
import type { Check } from '../../libs/computers/src/domain/posture';

/** A computer as a test puts it into the database. */
export interface ModelComputer {
  readonly id: string;
  readonly isVisible: boolean;
  /** Whether the inventory has a row of its posture. */
  readonly hasRow: boolean;
  readonly managed: boolean | null;
  readonly agentVersion: string | null;
  readonly checks: Readonly<Record<Check, boolean | null>>;
  readonly ownerId: string | null;
  readonly hasHiddenOwner: boolean;
  readonly source: string;
  readonly externalId: string;
  readonly serialNumber: string | null;
  readonly lastCheckedAt: Date | null;
}

/** The meaning of each filter. */
const MEANINGS: {
  readonly [Name in keyof ComputerFilter]-?: (
    computer: ModelComputer,
    wanted: Required<ComputerFilter>[Name],
  ) => boolean;
} = {
  isMonitored: ({ hasRow, managed, agentVersion }, wanted) =>
    (hasRow && (managed === true || agentVersion !== null)) === wanted,
  ids: ({ id }, wanted) => wanted.includes(assetId(id)),
  ownerId: ({ ownerId }, wanted) => ownerId === wanted,
  ownerVisible: ({ ownerId, hasHiddenOwner }, wanted) => ownerId !== null && hasHiddenOwner !== wanted,
  serialNumber: ({ serialNumber }, wanted) => serialNumber === wanted,
  externalId: ({ externalId }, wanted) => externalId === wanted,
  source: ({ source }, wanted) => source === wanted,
  failingAnyOf: ({ checks }, wanted) => wanted.some((check) => checks[check] === false),
  unknownAnyOf: ({ checks }, wanted) => wanted.some((check) => checks[check] === null),
  lastCheckedBefore: ({ lastCheckedAt }, wanted) => lastCheckedAt === null || lastCheckedAt < wanted,
};

export const computerMatches = (computer: ModelComputer, filter: ComputerFilter): boolean =>
  Object.entries(filter).every(([name, wanted]) =>
    (MEANINGS[name as keyof ComputerFilter] as (computer: ModelComputer, wanted: unknown) => boolean)(computer, wanted),
  );
