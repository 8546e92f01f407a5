import { promisify } from 'node:util';
import express, { type Request, type Response } from 'express';

/** More than any page has. */
const MOST_FIELDS = 300;

/** Returns a reader of forms of at most this length, which sets `request.body`. It reads no body of another kind. */
export function formReader(limit: string): (request: Request, response: Response) => Promise<void> {
  return promisify(express.urlencoded({ extended: false, limit, parameterLimit: MOST_FIELDS }));
}
