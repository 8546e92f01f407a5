import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { workspaceId } from '#libs/kernel';
import { ASSET_LIST } from '../../../../libs/inventory/src/assets/typeorm/asset-list';
import { FIND_ASSET } from '../../../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { ASSET_COLUMNS } from '../../../../libs/inventory/src/assets/typeorm/asset.row';
import { type Claims, Refused } from './access';
import { type Row, toAsset, toComputer } from './items';
import { rowsOf } from './postgres';

const COMPUTER_COLUMNS = `id, public_id, name, operating_system, os_version, serial_number, owner_id, is_monitored,
  (extract(epoch FROM last_checked_at) * 1000)::bigint,
  (extract(epoch FROM updated_at) * 1000)::bigint, source, tags, agent_version, antivirus_installed,
  disk_encryption_enabled, password_manager_installed, screen_lock_enabled`;

const { at: AT } = ASSET_COLUMNS;
const { name, text } = ASSET_LIST.statement(workspaceId(''), { filters: {} }, { size: 0, after: null });
const LIST_ASSETS = { name, text };
const LIST_COMPUTERS = {
  name: 'list_computers',
  text: `
    SELECT ${COMPUTER_COLUMNS}, total.n
      FROM (SELECT coalesce(sum(n), 0) AS n FROM visible_computer_count WHERE workspace_id = $1) AS total
      LEFT JOIN LATERAL (
        SELECT * FROM visible_computer WHERE workspace_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int
      ) AS page ON true
     ORDER BY id`,
};

const CATEGORIES = [
  { key: 'CLOUD', displayLabel: 'Cloud resources' },
  { key: 'COMPUTER', displayLabel: 'Computers' },
  { key: 'CUSTOM', displayLabel: 'Custom assets' },
  { key: 'INFORMATION', displayLabel: 'Information assets' },
  { key: 'EMPLOYEE', displayLabel: 'Employees' },
];

/** As many as the API reads, and writes, at once. */
const STREAMED = 1_000;
const LINES_AT_ONCE = 100;

const cursorKey = randomBytes(32);

export async function listAssets({ workspace }: Claims, query: string): Promise<object> {
  const { size, after } = pageOf(query);
  const rows = await rowsOf(LIST_ASSETS, [workspace, after, String(size + 1)]);
  return toPage(rows, size, (row) => toAsset(row, 0));
}

/** The lines of a stream, a checkpoint after every 1,000 assets. */
export async function* streamAssets({ workspace }: Claims): AsyncGenerator<string> {
  let count = 0;
  for (let after = '0'; ;) {
    const rows = await rowsOf(LIST_ASSETS, [workspace, after, String(STREAMED + 1)]);
    if (count === 0) yield lineOf({ type: 'start', totalCount: Number(rows[0]?.at(-1)), resumeCursor: cursorOf('0') });
    const page = rows.slice(0, STREAMED).filter((row) => row[0] !== null);
    for (let at = 0; at < page.length; at += LINES_AT_ONCE) {
      const lines = page.slice(at, at + LINES_AT_ONCE).map((row) => lineOf({ type: 'asset', asset: toAsset(row, 0) }));
      yield lines.join('');
    }
    count += page.length;
    after = page.at(-1)?.[0] ?? after;
    if (page.length === STREAMED) yield lineOf({ type: 'checkpoint', pageCursor: cursorOf(after), count });
    if (rows.length <= STREAMED) break;
  }
  yield lineOf({ type: 'end', count });
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`;

export async function listComputers({ workspace }: Claims, query: string): Promise<object> {
  const { size, after } = pageOf(query);
  const rows = await rowsOf(LIST_COMPUTERS, [workspace, after, String(size + 1)]);
  return toPage(rows, size, (row) => toComputer(row, 0));
}

/** Returns the asset and its version. */
export async function findAsset({ workspace }: Claims, id: string): Promise<readonly [object, string]> {
  const [row] = await rowsOf(FIND_ASSET, [workspace, id]);
  if (!row) throw new Refused(404);
  return [toAsset(row, 0), row[AT.version] as string];
}

export function listCategories(): object {
  return { results: CATEGORIES, pageInfo: { hasNextPage: false, endCursor: null, totalCount: CATEGORIES.length } };
}

function pageOf(query: string): { readonly size: number; readonly after: string } {
  if (query === '') return { size: 25, after: '0' };
  const parameters = new URLSearchParams(query);
  const cursor = parameters.get('pageCursor');
  return { size: Number(parameters.get('pageSize') ?? 25), after: cursor === null ? '0' : positionOf(cursor) };
}

function toPage(rows: readonly Row[], size: number, toItem: (row: Row) => object): object {
  const page = rows.slice(0, size);
  const hasNextPage = rows.length > size;
  return {
    results: page.filter((row) => row[0] !== null).map(toItem),
    pageInfo: {
      hasNextPage,
      endCursor: hasNextPage ? cursorOf(page.at(-1)?.[0] as string) : null,
      totalCount: Number(rows[0]?.at(-1)),
    },
  };
}

function cursorOf(position: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', cursorKey, iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify([position, {}])), cipher.final()]);
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url');
}

function positionOf(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', cursorKey, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16));
  const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
  const [position] = JSON.parse(text) as [string];
  return position;
}
