export { type Owner, type Tag } from './asset-parts';
export {
  type ApplicationId,
  type AssetId,
  type WorkspaceId,
  applicationId,
  assetId,
  isUuid,
  workspaceId,
} from './branded-ids';
export {
  CHANGE_ORIGINS,
  type Change,
  type ChangeOrigin,
  type ChangePage,
  type FeedStart,
  type HistoryEntry,
} from './change';
export { Clock } from './clock';
export { cut, cutAt, isLongerThan, isStorable, plusHint, shown, storable } from './client-text';
export { DomainError, ERROR_CODES, type ErrorCode, type InputFault } from './domain-error';
export { readForeignBody } from './foreign-body';
export { endOfString, isDeeperThan, parseForeignJson } from './foreign-json';
export { escapeHtml } from './html-text';
export { jsonLine } from './json-line';
export { InputFaults, type Place, ValidationFailed, stepsInto } from './input-faults';
export { type Page, type PageRequest, toPage } from './page';
export { isEmail, isSubject } from './person-account';
export { personIdIn, personName } from './person-name';
export {
  type Charge,
  RATE_CLASSES,
  RATE_LIMIT_RULE,
  type RateClass,
  type RateLimit,
  RateLimited,
  type RateLimits,
  formatRateLimit,
  parseRateLimit,
} from './rate-limit';
export { type Expand, type Freshness, type ReadScope, type ThenRequest, newestOf } from './read-scope';
export { SCOPES, SCOPE_MEANINGS, type Scope, coveredByBoth, coveringScope, covers, isScope } from './scope';
export { MAX_EXTERNAL_ID_BYTES, SOURCE_NAME_RULE, isExternalId, sourceName } from './source-identity';
export { DAY_MS, LAST_MILLISECOND, parseTimeBound, parseTimestamp } from './timestamp';
