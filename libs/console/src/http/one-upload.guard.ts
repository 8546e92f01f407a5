import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Uploads } from './uploads';

/** Receives one file of a workspace at a time, so that no workspace takes all places. */
@Injectable()
export class OneUploadGuard implements CanActivate {
  constructor(private readonly uploads: Uploads) {}

  /** @throws 409 before a byte of the file is stored */
  canActivate(context: ExecutionContext): boolean {
    const { workspaceId } = context.switchToHttp().getRequest<Request>().signedIn as SignedIn;
    const response = context.switchToHttp().getResponse<Response>();
    const end = this.uploads.receive(workspaceId);
    response.once('close', end);
    // The person may have left before, while the session was looked up.
    if (response.closed) end();
    return true;
  }
}
