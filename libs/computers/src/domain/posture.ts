/** The checks that filters name, in the order of the members of `CompliancePosture`. */
export const CHECKS = ['ANTIVIRUS', 'DISK_ENCRYPTION', 'PASSWORD_MANAGER', 'SCREEN_LOCK'] as const;
export type Check = (typeof CHECKS)[number];

/** Unknown is never failing. */
const CHECK_STATES = ['UNKNOWN', 'FAILING', 'PASSING'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** The states that posture filters distinguish. */
export interface Posture {
  readonly isMonitored: boolean;
  readonly checks: Readonly<Record<Check, CheckState>>;
}

/** All postures. Their order must match `asset.posture`: see computer.row.ts of the inventory. */
export const POSTURES: readonly Posture[] = [false, true].flatMap((isMonitored) =>
  CHECK_STATES.flatMap((ANTIVIRUS) =>
    CHECK_STATES.flatMap((DISK_ENCRYPTION) =>
      CHECK_STATES.flatMap((PASSWORD_MANAGER) =>
        CHECK_STATES.map((SCREEN_LOCK) => ({
          isMonitored,
          checks: { ANTIVIRUS, DISK_ENCRYPTION, PASSWORD_MANAGER, SCREEN_LOCK },
        })),
      ),
    ),
  ),
);
