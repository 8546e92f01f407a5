import type { Feature } from '#libs/platform';
import { AUDIT_KEY } from './system/audit-key';
import { auditSchema } from './typeorm/schema';

export const audit: Feature = {
  schema: auditSchema,
  secretFiles: [AUDIT_KEY],
  api: async () => (await import('#libs/audit/module')).AuditModule,
  tag: { name: 'Audit', description: 'What was changed, by whom and when, for auditors and SIEMs.' },
};
