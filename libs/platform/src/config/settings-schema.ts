import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65535);
const wholeNumber = z.coerce.number().int().min(1).max(2_147_483_647);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });
const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
const redisUrl = z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' });
const path = z.string().min(1);

/** Every setting of the service with its default. docs/settings.md has a line on each; a test compares the two. */
export const settingsSchema = z
  .object({
    NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
    PORT: port.default(3000),
    HOST: z.string().min(1).default('127.0.0.1'),
    MANAGEMENT_PORT: port.default(9090),
    MANAGEMENT_HOST: z.string().min(1).default('127.0.0.1'),
    BASE_URL: httpUrl.optional(),
    DATABASE_URL: postgresUrl,
    MIGRATION_DATABASE_URL: postgresUrl.optional(),
    DATABASE_POOL_SIZE: wholeNumber.default(10),
    REDIS_URL: redisUrl.optional(),
    IDEMPOTENCY_TTL_SECONDS: wholeNumber.default(86_400),
    TOKEN_AUDIENCE: z.string().min(1).optional(),
    ACCESS_TOKEN_TTL_SECONDS: wholeNumber.default(3600),
    SIGNING_KEYS_DIR: path.optional(),
    CURSOR_KEYS_FILE: path.optional(),
    SECRET_PEPPER_FILE: path.optional(),
    AUDIT_KEY_FILE: path.optional(),
    LOCAL_DIR: path.default('.local'),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    LOG_FORMAT: z.enum(['json', 'pretty']).default('json'),
  })
  .superRefine((settings, context) => {
    if (settings.NODE_ENV !== 'production') return;
    for (const name of ['SIGNING_KEYS_DIR', 'CURSOR_KEYS_FILE', 'SECRET_PEPPER_FILE', 'AUDIT_KEY_FILE'] as const) {
      if (settings[name] === undefined) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is required when NODE_ENV=production (admin keys init makes the keys)',
        });
      }
    }
  });
