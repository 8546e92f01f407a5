/**
 * The releases and the first migration that each brought. What earlier releases made is in use while later migrations
 * run; what a release makes itself, nobody uses yet. Whoever begins a release adds its line.
 */
export const RELEASES: readonly { readonly version: string; readonly firstMigration: number }[] = [
  { version: '1.0.0', firstMigration: 1780000000001 },
];
