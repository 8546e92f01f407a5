import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';

/**
 * Where a request comes from: the address of the connection, or what a proxy of TRUST_PROXY says of it. IPv6 addresses by
 * their network of 64 bits, within which one customer has them all.
 */
export const sourceOf = (request: Request): string => normalizeIp(request.ip ?? '', 64);
