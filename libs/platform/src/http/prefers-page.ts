import type { Request } from 'express';

/** Tells a browser from a program. Browsers prefer HTML; a client without a preference is a program. */
export const prefersPage = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';
