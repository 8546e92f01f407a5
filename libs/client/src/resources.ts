import { type operations } from './contract';

type BodyOf<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;
export type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Sent } };
}
  ? Sent
  : never;

export type Health = BodyOf<'getHealth'>;
export type Me = BodyOf<'getMe'>;
export type Asset = BodyOf<'getAsset'>;
export type AssetCategory = BodyOf<'listCategories'>['results'][number];
export type Computer = BodyOf<'getComputer'>;
export type AssetChange = BodyOf<'listAssetChanges'>['results'][number];
export type ComputerChange = BodyOf<'listComputerChanges'>['results'][number];
export type AssetHistoryEntry = BodyOf<'listAssetHistory'>['results'][number];
export type ComputerHistoryEntry = BodyOf<'listComputerHistory'>['results'][number];
export type AssetSummary = BodyOf<'getAssetSummary'>;
export type ComputerSummary = BodyOf<'getComputerSummary'>;
export type AuditEventPage = BodyOf<'listAuditEvents'>;
export type AuditEvent = AuditEventPage['results'][number];
export type TagKey = BodyOf<'listTagKeys'>['results'][number];
export type Source = BodyOf<'listSources'>['results'][number];
export type BulkUpdateSummary = BodyOf<'updateAssets'>;

/** Filters combine with AND. `pageSize` is 1 to 100, 25 by default. `pageCursor` continues an earlier list. */
export type AssetQuery = Query<'listAssets'>;
export type CategoryQuery = Query<'listCategories'>;
export type ComputerQuery = Query<'listComputers'>;
/** Days, such as `2026-11-24`: the first and the last. */
export type SummaryQuery = Query<'getAssetSummary'>;
export type HistoryQuery = Query<'listAssetHistory'>;
export type TagKeyQuery = Query<'listTagKeys'>;
export type SourceQuery = Query<'listSources'>;

/** All filters of the list. */
export type AssetExportQuery = Omit<AssetQuery, 'pageSize' | 'pageCursor'>;
export type ComputerExportQuery = Omit<ComputerQuery, 'pageSize' | 'pageCursor'>;

/** `since` is `now` or a date-time. `pageSize` is 1 to 1000, 100 by default. `pageCursor` continues an earlier page. */
export type AssetChangeQuery = Query<'listAssetChanges'>;
export type ComputerChangeQuery = Query<'listComputerChanges'>;
export type AuditEventQuery = Query<'listAuditEvents'>;

/** An absent or null member stays unchanged. */
export type AssetPatch = Body<'updateAsset'>;
interface BulkOptions {
  /** An asset that does not match when it is locked stays as it is, and fails with `condition_failed`. */
  readonly onlyIf?: NonNullable<Body<'updateAssets'>['onlyIf']>;
  /** Makes every check and writes nothing; `changes` of the summary tells what would change. */
  readonly dryRun?: boolean;
}
/** 1 to 100 ids with one patch for all, without tags; or 1 to 100 entries with a patch of their own. */
export type BulkUpdate = BulkOptions &
  (
    | { readonly ids: readonly string[]; readonly patch: Omit<AssetPatch, 'tags'>; readonly updates?: never }
    | { readonly updates: readonly AssetUpdate[]; readonly ids?: never; readonly patch?: never }
  );
export interface AssetUpdate {
  readonly id: string;
  readonly patch: AssetPatch;
}
