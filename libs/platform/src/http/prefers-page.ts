import type { Request } from 'express';

/** Tells browsers from programs. Browsers prefer HTML; a client without a preference counts as a program. */
export const prefersPage = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';
