import { createPublicKey, hash, verify } from 'node:crypto';
import { RFC9162 } from '@transmute/rfc9162';
import canonicalize from 'canonicalize';
import type { ApiClient } from './api-client';

interface Event {
  readonly leafHash: string;
}
interface Page {
  readonly results: readonly Event[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly resumeCursor: string;
}
interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}
type Key = Record<string, string>;

/** A customer who knows the public keys, keeps one checkpoint and has nothing else. */
export class AuditVerifier {
  private constructor(
    private readonly client: ApiClient,
    private readonly keys: readonly Key[],
    readonly kept: Checkpoint,
  ) {}

  static async keeping(client: ApiClient): Promise<AuditVerifier> {
    const keys = await keysOf(client);
    return new AuditVerifier(client, keys, await checkpointOf(client, keys));
  }

  /** Returns how the audit contradicts the kept checkpoint, or null. */
  async fault(): Promise<string | null> {
    try {
      const current = await checkpointOf(this.client, this.keys);
      if (current.size < this.kept.size) return 'the tree is smaller';
      const entries = await this.entries();
      for (const { size, root } of [this.kept, current]) {
        if (entries.length < size) return 'events are missing';
        const own = Buffer.from(await RFC9162.treeHead(entries.slice(0, size))).toString('base64');
        if (own !== root) return `the root over ${size} events is another`;
      }
      return null;
    } catch (error) {
      return String(error);
    }
  }

  private async entries(): Promise<Buffer[]> {
    const events: Event[] = [];
    let cursor = '';
    for (;;) {
      const { status, body } = await this.client.get<Page>(`/v1/audit-events?pageSize=1000${cursor}`);
      if (status !== 200) throw new Error(`the list has the status ${status}`);
      events.push(...body.results);
      if (!body.pageInfo.hasNextPage) break;
      cursor = `&pageCursor=${body.resumeCursor}`;
    }
    return events.map(({ leafHash: _own, ...event }) => Buffer.from(canonicalize(event) ?? ''));
  }
}

/** Reads the checkpoint, and verifies it with the keys that the API publishes now. */
export const noteOf = async (client: ApiClient): Promise<Checkpoint> => checkpointOf(client, await keysOf(client));

async function keysOf(client: ApiClient): Promise<Key[]> {
  const { keys } = (await client.get<{ keys: Key[] }>('/.well-known/jwks.json')).body;
  return keys.filter(({ kty }) => kty === 'OKP');
}

/** Reads the signed note. @throws unless a known key signed it */
async function checkpointOf(client: ApiClient, keys: readonly Key[]): Promise<Checkpoint> {
  const { status, text: note } = await client.get('/v1/audit-events/checkpoint');
  if (status !== 200) throw new Error(`the checkpoint has the status ${status}`);
  const [text = '', line = ''] = note.split('\n\n');
  const [, name = '', signature = ''] = line.trim().split(' ');
  const bytes = Buffer.from(signature, 'base64');
  const isSigned = keys.some((key) => {
    const raw = Buffer.from(key['x'] ?? '', 'base64url');
    const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n\u0001`), raw]), 'buffer').subarray(0, 4);
    const publicKey = createPublicKey({ key, format: 'jwk' });
    return id.equals(bytes.subarray(0, 4)) && verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4));
  });
  const [origin = '', size = '', root = ''] = text.split('\n');
  if (!isSigned || name !== origin) throw new Error('the checkpoint is not signed');
  return { origin, size: Number(size), root };
}
