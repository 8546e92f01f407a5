import type { PageRequest, WorkspaceId } from '#libs/kernel';
import type { BenchmarkDatabase } from '../benchmark-database';

export const DEPTHS = ['first', 'middle', 'last'] as const;
export type Depth = (typeof DEPTHS)[number];

/** A workspace with its first and last position. */
export interface Place {
  readonly workspace: WorkspaceId;
  readonly least: bigint;
  readonly most: bigint;
}

/** Reads a page of a list with its filter. */
export type ReadPage = (page: PageRequest) => Promise<{ readonly items: readonly unknown[] }>;

export async function placeOf({ admin }: BenchmarkDatabase, workspace: WorkspaceId): Promise<Place> {
  const { rows } = await admin.query<{ least: string; most: string }>(
    `SELECT (SELECT id FROM asset WHERE workspace_id = $1 ORDER BY id LIMIT 1) AS least,
            (SELECT id FROM asset WHERE workspace_id = $1 ORDER BY id DESC LIMIT 1) AS most`,
    [workspace],
  );
  return { workspace, least: BigInt(rows[0]?.least ?? 0), most: BigInt(rows[0]?.most ?? 0) };
}

/**
 * Returns the positions before the first page, a middle page and the last full page. Pages have `size` items unless
 * fewer match.
 */
export async function positionsOf(
  read: ReadPage,
  { least, most }: Place,
  size: number,
): Promise<Readonly<Record<Depth, string | null>>> {
  // Steps back from the end by growing distances until a full page follows.
  for (let back = 32n; ; back = (back * 5n) / 4n) {
    const after = most > least + back ? String(most - back) : '0';
    const page = await read({ size, after });
    if (page.items.length < size && after !== '0') continue;
    return { first: null, middle: String((least + most) / 2n), last: after };
  }
}
