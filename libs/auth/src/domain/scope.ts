/** Everything that can be granted (specification, Authentication 6). `frameworks:read` has no endpoint in 1.0.0. */
export const SCOPES = [
  'all:read',
  'all:write',
  'computers:read',
  'inventory:read',
  'inventory:write',
  'frameworks:read',
] as const;

export type Scope = (typeof SCOPES)[number];

export const isScope = (value: string): value is Scope => (SCOPES as readonly string[]).includes(value);

/** The scope that includes this one: `all:read` every read, `all:write` every write. */
export const coveringScope = (wanted: string): Scope => (wanted.endsWith(':read') ? 'all:read' : 'all:write');

/** Whether one of the granted scopes is, or includes, the wanted one. */
export function covers(granted: readonly string[], wanted: string): boolean {
  return granted.includes(wanted) || granted.includes(coveringScope(wanted));
}

/** What both cover: of `all:read` here and `inventory:read` there it is `inventory:read`. */
export const coveredByBoth = (one: readonly string[], other: readonly string[]): string[] => [
  ...one.filter((scope) => covers(other, scope)),
  ...other.filter((scope) => !one.includes(scope) && covers(one, scope)),
];
