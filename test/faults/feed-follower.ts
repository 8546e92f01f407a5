import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';

interface ChangePage {
  readonly results: { readonly id: string; readonly asset: { readonly description: string | null } | null }[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly resumeCursor: string;
}

const PAGE_SIZE = 5;

/** A reader of the change feed who keeps a copy of the assets, through instances that come and go. */
export class FeedFollower {
  /** Descriptions by asset. */
  private readonly copy = new Map<string, string | null>();
  /** Null before the first page. */
  cursor: string | null = null;
  /** Problem code of a refusal for good. */
  refusal: { readonly status: number; readonly code: string } | null = null;
  private following: Promise<void> | null = null;
  private over = false;

  constructor(
    private readonly token: string,
    private readonly origins: readonly string[],
  ) {}

  get descriptions(): readonly (string | null)[] {
    return [...this.copy.values()];
  }

  begin(): void {
    this.following = this.follow();
  }

  /** Reads to the end of the feed, or to a refusal. */
  async end(): Promise<void> {
    this.over = true;
    await this.following;
  }

  /** Differences between the copy and the table. */
  async faults(admin: Pool, workspace: string): Promise<string[]> {
    const { rows } = await admin.query<{ id: string; description: string | null }>(
      'SELECT public_id AS id, description FROM asset WHERE workspace_id = $1 AND facet IS NOT NULL',
      [workspace],
    );
    const differing = rows.filter(({ id, description }) => this.copy.get(id) !== description);
    const surplus = this.copy.size - rows.length;
    return [
      ...differing.map(({ id, description }) => `the feed left ${id} at ${this.copy.get(id)}, not at ${description}`),
      ...(surplus === 0 ? [] : [`the feed left ${surplus} assets too many`]),
    ];
  }

  private async follow(): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      const isLast = this.over;
      const page = await this.load(this.origins[turn % this.origins.length] as string);
      if (this.refusal) return;
      for (const { id, asset } of page?.results ?? []) {
        if (asset) this.copy.set(id, asset.description);
        else this.copy.delete(id);
      }
      this.cursor = page?.resumeCursor ?? this.cursor;
      if (page?.pageInfo.hasNextPage) continue;
      if (page && isLast) return;
      await delay(page ? 20 : 100);
    }
  }

  /** Null where there was no response, or none of use. */
  private async load(origin: string): Promise<ChangePage | null> {
    const cursor = this.cursor === null ? '' : `&pageCursor=${this.cursor}`;
    const response = await fetch(`${origin}/v1/inventory/changes?pageSize=${PAGE_SIZE}${cursor}`, {
      headers: { Authorization: `Bearer ${this.token}` },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
    const body = await response?.json().catch(() => null);
    if (response && response.status >= 400 && response.status < 500) {
      this.refusal = { status: response.status, code: (body as { code: string }).code };
    }
    return response?.status === 200 ? (body as ChangePage | null) : null;
  }
}
