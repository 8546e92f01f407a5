/** All scopes, with their meaning for people. */
export const SCOPE_MEANINGS = {
  'all:read': 'Read access to every resource, current and future.',
  'all:write': 'Write access to every resource.',
  'audit:read': 'Read audit events.',
  'computers:read': 'Read monitored computers and device posture.',
  'inventory:read': 'Read the asset inventory.',
  'inventory:write': 'Update asset governance metadata.',
  'frameworks:read': 'Read compliance frameworks. No endpoint uses it in 1.0.0.',
} as const;

export type Scope = keyof typeof SCOPE_MEANINGS;

export const SCOPES = Object.keys(SCOPE_MEANINGS) as readonly Scope[];

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
