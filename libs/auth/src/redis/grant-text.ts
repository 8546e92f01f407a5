import { type RateLimit, applicationId, isUuid, workspaceId } from '#libs/kernel';
import type { Grant } from '../domain/grant';

/** A grant in JSON. */
interface GrantText extends Pick<Grant, 'clientId' | 'scopes' | 'limits' | 'disabled'> {
  readonly id: string;
  readonly workspace: string;
  readonly generation: string;
}

/** Writes a grant for Redis. */
export function fromGrant(grant: Grant): string {
  const { id, workspaceId: workspace, clientId, scopes, limits, disabled, generation } = grant;
  const text: GrantText = { id, workspace, clientId, scopes, limits, disabled, generation: String(generation) };
  return JSON.stringify(text);
}

/** Reads a grant from Redis. Returns null for anything else. */
export function toGrant(text: string): Grant | null {
  try {
    const { id, workspace, clientId, scopes, limits, disabled, generation } = JSON.parse(text) as GrantText;
    if (!isUuid(id) || !isUuid(workspace) || !Array.isArray(scopes)) return null;
    if (!Object.values(limits).every(isLimit)) return null;
    return {
      id: applicationId(id),
      workspaceId: workspaceId(workspace),
      clientId,
      scopes,
      limits,
      disabled,
      generation: BigInt(generation),
    };
  } catch {
    return null;
  }
}

const isLimit = ({ perMinute, burst }: RateLimit): boolean =>
  [perMinute, burst].every((count) => Number.isSafeInteger(count) && count >= 1);
