import { Injectable } from '@nestjs/common';
import { GrantCache } from '../domain/grant-cache.port';

/** Sends a client's reads to the primary for a while, as a write does. */
@Injectable()
export class NewestReads {
  constructor(private readonly grants: GrantCache) {}

  /** From now on the client sees everything that is committed by now. */
  async begin(clientId: string): Promise<void> {
    await this.grants.readNewest(clientId);
  }
}
