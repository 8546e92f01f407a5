import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Uploads } from './uploads';

/** Receives one file of a workspace at a time, so that no workspace takes the place of all others. */
@Injectable()
export class OneUploadGuard implements CanActivate {
  constructor(private readonly uploads: Uploads) {}

  /** @throws 409 before a byte of the file is stored */
  canActivate(context: ExecutionContext): boolean {
    const { workspaceId } = context.switchToHttp().getRequest<Request>().signedIn as SignedIn;
    context.switchToHttp().getResponse<Response>().once('close', this.uploads.receive(workspaceId));
    return true;
  }
}
