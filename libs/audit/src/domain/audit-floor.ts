import type { AuditTree } from './audit-tree';

/** The tree that ends with the last archived event. That event and those before it are no longer stored. */
export interface AuditFloor extends AuditTree {
  /** When that event was recorded, ISO 8601. */
  readonly recordedAt: string;
}
