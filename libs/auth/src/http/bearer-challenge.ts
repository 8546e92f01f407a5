import { metadataUrl } from './discovery-urls';

/** Builds the challenge of a refused bearer token (RFC 6750, section 3; RFC 9728, section 5.1). */
export function bearerChallenge(baseUrl: string, parameters: Readonly<Record<string, string>> = {}): string {
  const all = {
    realm: 'compliance-api',
    ...parameters,
    resource_metadata: metadataUrl(baseUrl, 'protectedResource'),
  };
  return `Bearer ${Object.entries(all)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}
