export { IdempotencyInterceptor, Idempotent } from './idempotency.interceptor';
export { IdempotencyPurge } from './records/idempotency-purge';
export { idempotencySchema } from './records/idempotency-record.row';
