import { UseInterceptors } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor';

/**
 * The route is a write and happens at most once per Idempotency-Key (specification, Idempotency rules). Every write under
 * a scope has it, or a test fails; reads go without, as an interceptor costs each request what its guards cost.
 */
export const Idempotent = (): MethodDecorator => UseInterceptors(IdempotencyInterceptor);
