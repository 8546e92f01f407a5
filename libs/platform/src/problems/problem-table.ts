import type { ErrorCode, InputFault } from '#libs/kernel';

/** The text of each HTTP status (specification, Errors). */
export const TITLES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** The client's view of one code. The pages under /problems and docs/errors.md are made from this. */
export interface ProblemDefinition {
  readonly status: keyof typeof TITLES;
  readonly cause: string;
  readonly remedy: string;
  /** Parts of the response that vary, as a client may see them. */
  readonly example: ExampleResponse;
}

interface ExampleResponse {
  readonly detail: string;
  /** Path of the request. */
  readonly instance: string;
  readonly errors?: readonly InputFault[];
}

const LIST = '/v1/inventory/assets';
const ITEM = `${LIST}/018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11`;
const TOKEN = '/oauth/token';
const atFault = (instance: string, place: 'parameter' | 'header', name: string, code: string, detail: string) => ({
  detail,
  instance,
  errors: [{ [place]: name, code, detail }],
});

/** Maps every code to its problem. */
export const PROBLEMS: Readonly<Record<ErrorCode, ProblemDefinition>> = {
  validation_failed: {
    status: 400,
    cause: 'Some input is malformed, out of range or unknown. `errors` names each input that is wrong.',
    remedy: 'Correct these inputs, and send the request again.',
    example: atFault(LIST, 'parameter', 'pageSize', 'format', 'pageSize must be a whole number from 1 to 100.'),
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor was altered, or it was issued for another workspace, list or set of filters.',
    remedy: 'Send `pageInfo.endCursor` back unchanged, with the same filters; or start at the first page.',
    example: atFault(LIST, 'parameter', 'pageCursor', 'format', 'pageCursor was issued for another categoryKey.'),
  },
  unsupported_audience: {
    status: 400,
    cause: 'The `audience` of the token request is not the audience of this API.',
    remedy: 'Leave `audience` out, or send the audience of this API exactly.',
    example: atFault(TOKEN, 'parameter', 'audience', 'choice', 'The audience is not the one of this API.'),
  },
  unsupported_grant_type: {
    status: 400,
    cause: 'The token request asks for a grant other than `client_credentials`.',
    remedy: 'Send `grant_type=client_credentials`.',
    example: atFault(TOKEN, 'parameter', 'grant_type', 'choice', 'grant_type must be client_credentials.'),
  },
  invalid_request: {
    status: 400,
    cause:
      'A parameter of the token request is missing, given twice or in the wrong place, or `Authorization` is given twice.',
    remedy: 'Send each parameter once, in the form. Send the secret in the form or by HTTP Basic, not both.',
    example: atFault(TOKEN, 'parameter', 'client_secret', 'required', 'client_secret is required.'),
  },
  invalid_scope: {
    status: 400,
    cause: 'A scope of the token request is unknown or not granted to the application.',
    remedy: 'Ask for scopes that the application was given, or leave `scope` out to get all of them.',
    example: atFault(
      TOKEN,
      'parameter',
      'scope',
      'choice',
      'The scope inventory:write is unknown or not granted to this application.',
    ),
  },
  invalid_client: {
    status: 401,
    cause: 'The client is unknown or disabled, or the secret is wrong, expired or revoked.',
    remedy: 'Check client id and secret; ask an administrator of the workspace for a new secret.',
    example: { detail: 'The client could not be authenticated.', instance: TOKEN },
  },
  token_missing: {
    status: 401,
    cause: 'The request has no bearer token.',
    remedy: 'Send `Authorization: Bearer <ACCESS_TOKEN>` with a token of `POST /oauth/token`.',
    example: { detail: 'A bearer token is required.', instance: LIST },
  },
  token_invalid: {
    status: 401,
    cause:
      'The bearer token is malformed, was not issued by this service for this API, or its application is disabled.',
    remedy: 'Request a new token and send it unchanged.',
    example: { detail: 'The bearer token is not valid.', instance: LIST },
  },
  token_expired: {
    status: 401,
    cause: 'The bearer token has expired.',
    remedy: 'Request a new token. `expires_in` of the token response is the lifetime in seconds.',
    example: { detail: 'The bearer token has expired.', instance: LIST },
  },
  token_superseded: {
    status: 401,
    cause:
      'A newer token was issued for the same application, or its secret was rotated without an overlap. Only the newest ' +
      'token is accepted.',
    remedy: 'Share one token among all workers of an application, or give each worker an application of its own.',
    example: { detail: 'A newer token was issued for this application, or its secret was rotated.', instance: LIST },
  },
  insufficient_scope: {
    status: 403,
    cause: 'The token lacks the scope that the operation needs. Write access does not include read access.',
    remedy: 'Ask an administrator of the workspace to grant the scope, then request a new token.',
    example: { detail: 'This operation needs the scope inventory:read.', instance: LIST },
  },
  resource_not_writable: {
    status: 403,
    cause: 'The request would change an EMPLOYEE asset; employee records are read-only. Nothing was applied.',
    remedy: 'Leave EMPLOYEE assets out of updates.',
    example: {
      detail: 'Employees cannot be updated: 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11. Nothing was applied.',
      instance: ITEM,
    },
  },
  not_found: {
    status: 404,
    cause: 'There is nothing at this path, or no such resource in the workspace of the token.',
    remedy: 'Check the path and the id. Hidden and deleted assets are not found.',
    example: { detail: 'No asset has this id.', instance: ITEM },
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, but not for this method.',
    remedy: 'Use one of the methods that the `Allow` header names.',
    example: { detail: 'DELETE is not allowed here.', instance: ITEM },
  },
  idempotency_conflict: {
    status: 409,
    cause: 'The `Idempotency-Key` was already used for a different request.',
    remedy: 'Use a fresh key for each change. Use the same key only to repeat the same request.',
    example: { detail: 'This Idempotency-Key was used with a different request.', instance: ITEM },
  },
  idempotency_in_progress: {
    status: 409,
    cause: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait `Retry-After` seconds, then send the same request with the same key.',
    example: { detail: 'A request with this Idempotency-Key is still being processed.', instance: ITEM },
  },
  export_in_progress: {
    status: 409,
    cause: 'The application already reads a stream, and it can read only one at a time.',
    remedy: 'Read that stream to its end, or close its connection. Then try again after five seconds.',
    example: { detail: 'This application already reads a stream. It can read one at a time.', instance: LIST },
  },
  cursor_expired: {
    status: 410,
    cause:
      'The list cannot continue from this cursor or time without a gap. `diverged`: the data was restored to a state ' +
      'from before the cursor, or an operator had every reader begin again. `purged`: removed items that you have not ' +
      'seen were deleted for good, or audit events that you have not read were archived. `archived`: audit events ' +
      'recorded at `since` or later were archived.',
    remedy:
      'Begin without the cursor or `since`. Drop from your copy of an inventory what the feed does not return; keep your audit events.',
    example: atFault(
      '/v1/inventory/changes',
      'parameter',
      'pageCursor',
      'diverged',
      'The data was restored to a state from before this cursor. Begin without a cursor.',
    ),
  },
  precondition_failed: {
    status: 412,
    cause: 'The asset has changed since the version that `If-Match` names.',
    remedy: 'Read the asset again, decide again, and send its current `ETag` in `If-Match`.',
    example: { detail: 'The asset has another version than If-Match names.', instance: ITEM },
  },
  payload_too_large: {
    status: 413,
    cause:
      'The body of the request is larger than 256 KiB, the form of a token request larger than 16 KiB, or the tags of all assets of a bulk update larger than 10 MB.',
    remedy: 'Send a smaller body, or fewer updates.',
    example: { detail: 'The body is larger than 262144 bytes.', instance: LIST },
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The operation does not read this `Content-Type`, the header is missing, or the body is compressed.',
    remedy: 'Send the content type that the operation documents, without a `Content-Encoding`.',
    example: atFault(
      ITEM,
      'header',
      'Content-Type',
      'choice',
      'Content-Type must be application/json or application/merge-patch+json, in UTF-8.',
    ),
  },
  headers_too_large: {
    status: 431,
    cause: 'The request has more than 200 headers, or its line and headers are too large together.',
    remedy: 'Send fewer or shorter headers.',
    example: { detail: 'The header block is too large.', instance: '/' },
  },
  rate_limited: {
    status: 429,
    cause: 'The application has used up its rate limit for this kind of request.',
    remedy: 'Wait `Retry-After` seconds, then send the request again. Spread requests evenly.',
    example: { detail: 'Too many requests. Try again in 2 s.', instance: LIST },
  },
  internal_error: {
    status: 500,
    cause: 'Something went wrong on our side.',
    remedy: 'Try again; use the same `Idempotency-Key` for a write. If it fails again, report the `requestId`.',
    example: { detail: 'Something went wrong on our side.', instance: LIST },
  },
  service_unavailable: {
    status: 503,
    cause: 'A part of the service is down or too slow. A write may have been applied.',
    remedy:
      'Try again after `Retry-After` seconds. Send a write again with the same `Idempotency-Key`, so that it is applied once.',
    example: { detail: 'The service is temporarily unavailable.', instance: LIST },
  },
};
