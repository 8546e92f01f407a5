import { CHECKS } from '../../libs/computers/src/domain/posture';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';

/** Single filters of computers, by their values in the demo inventory. The owner is the test's to name. */
export const COMPUTER_FILTERS: readonly ComputerFilter[] = [
  {},
  { isMonitored: true },
  { isMonitored: false },
  { failingAnyOf: ['ANTIVIRUS'] },
  { failingAnyOf: [...CHECKS] },
  { unknownAnyOf: ['DISK_ENCRYPTION'] },
  { unknownAnyOf: [...CHECKS] },
  { lastCheckedBefore: new Date('2026-10-02T09:00:00Z') },
  { lastCheckedBefore: new Date('2026-10-04T05:59:59Z') },
  { lastCheckedBefore: new Date('2026-10-17T15:00:00Z') },
  { lastCheckedBefore: new Date('2026-10-31T23:00:00Z') },
  { source: 'demo' },
  { source: 'nobody' },
];
