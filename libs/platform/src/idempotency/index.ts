export { IdempotencyInterceptor } from './idempotency.interceptor';
export { Idempotent } from './idempotent.decorator';
export { IdempotencyPurge } from './records/idempotency-purge';
export { idempotencySchema } from './records/idempotency-schema';
