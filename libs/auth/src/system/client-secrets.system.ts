import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { crc32 } from 'node:zlib';
import { ClientSecrets } from '../domain/client-secrets.port';

/** Both slots of a rotation are always compared, in use or not. */
const SLOTS = 2;
const NO_DIGEST = Buffer.alloc(32);

/**
 * Secrets are `cs_`, 43 base64url characters (256 random bits) and 6 characters of checksum, by which scanners
 * recognise leaked secrets offline. Digests are HMAC-SHA256 under a pepper outside the database.
 */
@Injectable()
export class ClientSecretsSystem extends ClientSecrets {
  constructor(private readonly pepper: Buffer) {
    super();
  }

  newClientId(): string {
    return `ci_${randomBytes(16).toString('hex')}`;
  }

  newTokenId(): string {
    return randomUUID();
  }

  newSecret(): { secret: string; digest: Buffer } {
    const random = randomBytes(32).toString('base64url');
    const secret = `cs_${random}${checksum(random)}`;
    return { secret, digest: this.digest(secret) };
  }

  digest(secret: string): Buffer {
    return createHmac('sha256', this.pepper).update(secret).digest();
  }

  isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean {
    let found = false;
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const known = digests[slot];
      const same = timingSafeEqual(digest, known ?? NO_DIGEST);
      found = (known !== undefined && same) || found;
    }
    return found;
  }
}

/** CRC-32 in six base64url characters. */
function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64url');
}
