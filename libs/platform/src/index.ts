export { makeSecretDirectoryOnce, makeSecretFileOnce } from './config/key-files';
export { withKeyLock } from './config/key-lock';
export { SHORTEST_AUDIT_KEY, SHORTEST_PEPPER, assertKeysReadable, unreadableKey } from './config/key-presence';
export { type KeyReading, KeyRereading, type RereadableKeys } from './config/key-rereading';
export {
  type DatedKey,
  KeysUnusable,
  LastKey,
  keyInUse,
  madeAfter,
  newestFirst,
  usedFrom,
} from './config/key-rotation';
export { readSecretFile, readSecretFileSync, removeSecretFile, replaceSecretFile } from './config/secret-file';
export { Settings, SettingsInvalid, loadSettings } from './config/settings';
export { meaningOf, settingsSchema } from './config/settings-schema';
export { type DatabaseConnection, poolOf } from './database/data-source';
export { Database, READ_PATIENCE_MS, type TenantScope } from './database/database';
export { connectionWasLost } from './database/database-fault';
export { DatabaseModule } from './database/database.module';
export { DatabaseProbe } from './database/database-probe';
export { buildIndexConcurrently } from './database/concurrent-index';
export { type MigrationReport, RolesNotApart, RuntimeRoleUnfit, migrate } from './database/migrate';
export { RuntimeRoleTooPowerful, assertRuntimeRole } from './database/runtime-role';
export { missingSessionSettings } from './database/session-settings';
export { type BoundStatement, type Statement, type TextRow, bind } from './database/pipelined-statements';
export { GATE_IS_OPEN } from './database/unit-of-work';
export { type SchemaPart, type TableGrant } from './database/schema-part';
export { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded-postgres/embedded-postgres';
export { EmbeddedPostgresFault } from './embedded-postgres/embedded-postgres-fault';
export { Idempotency } from './idempotency/idempotency';
export { IdempotencyInterceptor } from './idempotency/idempotency.interceptor';
export { Idempotent } from './idempotency/idempotent.decorator';
export { idempotencySchema } from './idempotency/idempotency-schema';
export { IdempotencyPurge } from './idempotency/idempotency-purge';
export { API_VERSION } from './health/api-version';
export { acceptTarget } from './http/accept-target';
export { ApiBearer, CLIENT_CREDENTIALS_SCHEME } from './http/api-bearer.decorator';
export { type AnswerExamples, ApiAnswer } from './http/api-answer.decorator';
export { type AnswerHeaders, chargedAnswer, headerComponents } from './http/api-headers';
export {
  ApiProblems,
  ApiProblemsAs,
  ApiPublicProblems,
  BEARER_PROBLEMS,
  PUBLIC_ANSWERS,
  problemResponse,
} from './http/api-problems.decorator';
export { REQUEST_ID_PARAMETER } from './http/api-request-id';
export { ApiObject, constant, namedEnum, openEnum } from './http/api-schema.decorator';
export { ApiServerAdapter } from './http/api-server';
export { ApiWrite, WRITE_PROBLEMS } from './http/api-write.decorator';
export { entityTagOf, ifMatch, refuseIfMatch } from './http/entity-tag';
export { BodyReader, type ThreeState } from './http/body-reader';
export { CurrentCaller } from './http/current-caller.decorator';
export { CurrentWrite, type CurrentWriteRequest } from './http/current-write.decorator';
export { JSON_ANSWER, JSON_MEDIA_TYPES, type JsonBody } from './http/json-body';
export { NoQueryDto } from './http/no-query.dto';
export { prefersPage } from './http/prefers-page';
export { readBody } from './http/request-body';
export { type Caller, openContext } from './http/request-context';
export { Public, ROUTE_ACCESS, type RouteAccess, accessOf, assertAccessDeclared } from './http/route-access';
export { StrictQueryPipe } from './http/strict-query.pipe';
export { SystemClock } from './http/system-clock';
export { logAccess } from './observability/access-log';
export { HttpMetrics } from './observability/http-metrics';
export { type MetricDefinition, Metrics } from './observability/metrics';
export { type ServedRequest, whenServed } from './observability/served-request';
export { startTracing, traceRequest } from './observability/tracing';
export { Tally } from './observability/tally';
export { LogOutput } from './observability/log-output';
export { ProcessLogger, createLog, logCrash } from './observability/process-logger';
export { listCursorKeys, removeCursorKey, rotateCursorKey } from './pagination/cursor-key-file';
export { newCursorKeyFile } from './pagination/cursor-keys';
export { CursorInvalid, type ListFilters } from './pagination/cursors';
export { PageInfoDto } from './pagination/page-info.dto';
export { PageQueryDto } from './pagination/page-query.dto';
export { Paging } from './pagination/paging';
export { PlatformModule } from './platform.module';
export { PROBLEM_MEDIA_TYPE, type Problem, toProblem } from './problems/problem';
export { EXAMPLE_REQUEST_ID, problemExample } from './problems/problem-example';
export { ProblemDto } from './problems/problem.dto';
export { PROBLEMS } from './problems/problem-table';
export { ProblemFilter } from './problems/problem.filter';
export { RedisClient, type RedisState } from './redis/redis-client';
export { type RedisCommands } from './redis/redis-commands';
export { RedisScript } from './redis/redis-script';
export { CHARGE_LUA, KEEP_FOR_LUA, NOW_LUA } from './throttling/charge-script';
export { type BucketSize, bucketSizeOf, limitOf, rateClassOf } from './throttling/rate-limit';
export { clearRateLimitHeaders, setRateLimitHeaders } from './throttling/rate-limit-headers';
export { type ChargeReply, TokenBuckets, bucketField, chargeOf, clientKey } from './throttling/token-buckets';
export { sourceOf, trustProxies } from './http/source-address';
