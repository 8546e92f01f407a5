import type { Metrics } from '#libs/platform/observability';
import type { AuditSealer } from './audit-sealer';

/** Exposes the sealing backlog as the sealer last measured it, so a scrape never waits for Postgres. */
export function watchSealing(metrics: Metrics, sealer: AuditSealer): void {
  metrics.gauge(
    {
      name: 'compliance_audit_unsealed_events',
      help: 'Audit events that wait for their seal; 10000 means that many or more.',
    },
    () => sealer.backlog?.unsealed ?? null,
  );
  metrics.gauge(
    { name: 'compliance_audit_seal_lag_seconds', help: 'Age of the oldest audit event that waits for its seal.' },
    () => {
      const { backlog } = sealer;
      if (!backlog) return null;
      return backlog.oldestAt === null ? 0 : Math.max(0, (Date.now() - backlog.oldestAt.getTime()) / 1_000);
    },
  );
  metrics.gauge(
    {
      name: 'compliance_audit_seal_last_look_timestamp_seconds',
      help: 'Unix time when this instance last looked for audit events to seal; before the first look, of its start.',
    },
    // An instance that never succeeds in looking must not lack the metric that tells of it.
    () => (sealer.backlog?.lookedAt.getTime() ?? sealer.succeededAt) / 1_000,
  );
  metrics.gauge(
    { name: 'compliance_audit_bytes', help: 'Disk space of all audit events and their indexes.' },
    () => sealer.backlog?.bytes ?? null,
  );
  metrics.tally(
    {
      name: 'compliance_audit_seal_failures_total',
      help: 'Failed attempts to seal: the audit was altered, or something was unavailable.',
    },
    'reason',
    sealer.failures,
  );
}
