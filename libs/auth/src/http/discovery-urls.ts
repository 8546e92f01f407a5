export const WELL_KNOWN_PATHS = {
  authorizationServer: '.well-known/oauth-authorization-server',
  protectedResource: '.well-known/oauth-protected-resource',
  keySet: '.well-known/jwks.json',
} as const;

/** Returns the address of a metadata document. A path of the base URL follows it (RFC 8414, section 3.1; RFC 9728, section 3.1). */
export function metadataUrl(baseUrl: string, document: 'authorizationServer' | 'protectedResource'): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}/${WELL_KNOWN_PATHS[document]}${pathname.replace(/\/$/, '')}`;
}
