import type { AuditAct } from './audit-act';

/** A list that was read as a whole, by a stream or as a file. */
export function exportAct(resource: string, rows: number, requestId: string): Omit<AuditAct, 'actor'> {
  const ofAudit = resource === 'audit-events';
  return {
    action: ofAudit ? 'audit.exported' : 'inventory.exported',
    target: { type: ofAudit ? 'AUDIT' : 'INVENTORY', id: resource },
    requestId,
    changes: { rows: { old: null, new: rows } },
  };
}
