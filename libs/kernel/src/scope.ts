/** All scopes (specification, Authentication 6; additions, section 1). `frameworks:read` has no endpoint in 1.0.0. */
export const SCOPES = [
  'all:read',
  'all:write',
  'audit:read',
  'computers:read',
  'inventory:read',
  'inventory:write',
  'frameworks:read',
] as const;

export type Scope = (typeof SCOPES)[number];

export const isScope = (value: string): value is Scope => (SCOPES as readonly string[]).includes(value);

/** Returns the scope that includes this one: `all:read` for reads, `all:write` for writes. */
export const coveringScope = (wanted: string): Scope => (wanted.endsWith(':read') ? 'all:read' : 'all:write');

/** Tells whether a granted scope is or includes the wanted one. */
export function covers(granted: readonly string[], wanted: string): boolean {
  return granted.includes(wanted) || granted.includes(coveringScope(wanted));
}

/** Intersects two sets of scopes: `all:read` and `inventory:read` give `inventory:read`. */
export const coveredByBoth = (one: readonly string[], other: readonly string[]): string[] => [
  ...one.filter((scope) => covers(other, scope)),
  ...other.filter((scope) => !one.includes(scope) && covers(one, scope)),
];
