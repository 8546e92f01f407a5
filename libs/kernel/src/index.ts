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
export { type Charge, RateLimited } from './charge';
export { Clock } from './clock.port';
export { cutAt, isLongerThan, isStorable, plusHint, shown, storable } from './client-text';
export { DomainError, type InputFault } from './domain-error';
export { ERROR_CODES, type ErrorCode } from './error-code';
export { MAX_EXTERNAL_ID_BYTES, isExternalId } from './external-id';
export { escapeHtml } from './html-text';
export { jsonLine } from './json-line';
export { type Freshness, type ReadScope, newestOf } from './read-scope';
export { InputFaults, type Place, stepsInto } from './input-faults';
export { type Expand, type Owner, type ThenRequest } from './owner';
export { type Page, type PageRequest, toPage } from './page';
export { personIdIn, personName } from './person-name';
export {
  RATE_CLASSES,
  type RateClass,
  type RateLimit,
  type RateLimits,
  formatRateLimit,
  parseRateLimit,
} from './rate-limit';
export { SCOPES, type Scope, coveredByBoth, coveringScope, covers, isScope } from './scope';
export { SOURCE_NAME_RULE, sourceName } from './source-name';
export { type Tag } from './tag';
export { parseTimeBound, parseTimestamp } from './timestamp';
export { ValidationFailed } from './validation-failed';
