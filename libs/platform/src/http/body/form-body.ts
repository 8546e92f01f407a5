import { type ParsedUrlQuery, parse } from 'node:querystring';
import type { Request, Response } from 'express';
import { readBody } from './request-body';

export const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded';

/**
 * Reads a form. A repeated parameter becomes an array.
 * @throws `unsupported_media_type`, `payload_too_large`, and `validation_failed` for a form that does not arrive whole
 */
export async function readForm(request: Request, response: Response, maxBytes: number): Promise<ParsedUrlQuery> {
  const { bytes } = await readBody(request, response, [FORM_MEDIA_TYPE], maxBytes);
  return parse(bytes.toString('utf8'), '&', '=', { maxKeys: 0 });
}
