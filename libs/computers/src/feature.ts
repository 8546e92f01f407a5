import type { Feature } from '#libs/platform';
import { computersSchema } from './typeorm/schema';

export const computers: Feature = {
  schema: computersSchema,
  api: async () => (await import('#libs/computers/module')).ComputersModule,
  tag: { name: 'Computers', description: 'Monitored computers and their posture.' },
};
