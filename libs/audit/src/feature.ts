import type { Feature } from '#libs/platform';
import { auditSchema } from './typeorm/schema';

export const audit: Feature = {
  schema: auditSchema,
  api: async () => (await import('#libs/audit/module')).AuditModule,
  tag: { name: 'Audit', description: 'What was changed, by whom and when, for auditors and SIEMs.' },
};
