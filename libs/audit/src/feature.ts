import type { Feature } from '#libs/platform';
import { auditSchema } from './typeorm/schema';

export const audit: Feature = {
  schema: auditSchema,
  api: async () => (await import('#libs/audit/module')).AuditModule,
  operators: async () => (await import('#libs/audit/operators')).AuditOperatorModule,
};
