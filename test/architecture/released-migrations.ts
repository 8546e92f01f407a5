/**
 * The first migration of each release. While later migrations run, everything from earlier releases is in use; nothing
 * of the release itself is. Add a line when a release begins.
 */
export const RELEASES: readonly { readonly version: string; readonly firstMigration: number }[] = [
  { version: '1.0.0', firstMigration: 1780000000001 },
  { version: '1.1.0', firstMigration: 1780000000030 },
];
