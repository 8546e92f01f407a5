import { UseInterceptors } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor';

/**
 * Marks a write that happens at most once per Idempotency-Key (specification, Idempotency rules). A test requires it on
 * every write under a scope. Reads omit it, because an interceptor costs as much as the guards.
 */
export const Idempotent = (): MethodDecorator => UseInterceptors(IdempotencyInterceptor);
