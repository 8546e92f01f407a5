import type { Feature } from '#libs/platform';
import { PEPPER } from './system/pepper';
import { authSchema } from './typeorm/schema';

export const auth: Feature = {
  schema: authSchema,
  secretFiles: [PEPPER],
  api: async () => (await import('#libs/auth/module')).AuthModule,
  tag: { name: 'Authentication', description: 'Tokens by the OAuth 2.0 client credentials grant.' },
};
