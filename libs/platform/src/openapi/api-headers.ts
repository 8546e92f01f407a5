import type { ErrorCode } from '#libs/kernel';
import { RETRIED_AT_ONCE } from '../problems/problem';

interface DescribedHeader {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number;
}

/** Every response header that clients may rely on. */
const HEADERS = {
  'X-Request-Id': {
    description:
      'Id of the request: the one that you sent if it is well-formed, otherwise a new one. Quote it when you report a problem.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    example: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
  },
  'X-Content-Type-Options': {
    description: 'Read the response by its `Content-Type` only.',
    schema: { type: 'string', pattern: '^nosniff$' },
    example: 'nosniff',
  },
  'Cache-Control': {
    description: 'No cache may keep the response.',
    schema: { type: 'string', pattern: '^no-store$' },
    example: 'no-store',
  },
  'X-RateLimit-Limit': {
    description: 'Tokens in a full bucket.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
    example: 100,
  },
  'X-RateLimit-Remaining': {
    description: 'Whole tokens left in the bucket.',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999 },
    example: 99,
  },
  RateLimit: {
    description:
      'Bucket (`token`, `read` or `write`), tokens left (`r`) and seconds until the bucket is full (`t`); IETF draft ratelimit-headers.',
    schema: { type: 'string', pattern: '^"(token|read|write)";r=[0-9]+;t=[0-9]+$', maxLength: 64 },
    example: '"read";r=99;t=2',
  },
  'RateLimit-Policy': {
    description:
      'Bucket (`token`, `read` or `write`), tokens in a full bucket (`q`) and seconds to fill an empty one (`w`); IETF draft ratelimit-headers.',
    schema: { type: 'string', pattern: '^"(token|read|write)";q=[0-9]+;w=[0-9]+$', maxLength: 64 },
    example: '"read";q=100;w=120',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before you send the request again.',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
    example: 2,
  },
  'WWW-Authenticate': {
    description:
      'How to authenticate: by a bearer token (RFC 6750), with `error` when the token was refused and `scope` when a scope is missing. The token endpoint names `Basic` if the request used it.',
    schema: { type: 'string', minLength: 1, maxLength: 512 },
    example: 'Bearer realm="compliance-api", error="invalid_token", error_description="The bearer token has expired."',
  },
  ETag: {
    description: 'Version of the asset. Send it as `If-Match` in an update.',
    schema: { type: 'string', pattern: '^"[!#-~]*"$', maxLength: 64 },
    example: '"7"',
  },
  'Idempotent-Replayed': {
    description: 'This response repeats the first one for this `Idempotency-Key`. Nothing was applied again.',
    schema: { type: 'string', pattern: '^true$' },
    example: 'true',
  },
  Link: {
    description:
      'Address of the next page, with your filters and `pageSize` (RFC 8288); absent on the last page, and when it would be longer than 8 kB.',
    schema: { type: 'string', pattern: '^<[^<>"]+>; rel="next"$' },
    example: '<https://api.example.com/v1/inventory/assets?pageSize=50&pageCursor=AUM1cGt3>; rel="next"',
  },
  Allow: {
    description: 'The methods of this path.',
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', maxLength: 64 },
    example: 'GET, HEAD',
  },
} as const satisfies Readonly<Record<string, DescribedHeader>>;

/** `Cache-Control` of a response that is the same for everybody. */
const CACHED: DescribedHeader = {
  description: 'Caches may keep the response for `max-age` seconds.',
  schema: { type: 'string', pattern: '^public, max-age=[0-9]+$', maxLength: 64 },
  example: 'public, max-age=3600',
};

export type HeaderName = keyof typeof HEADERS;
/**
 * `always`: the header is present whenever the response is. `sometimes`: only in the cases of its description. `cached`:
 * `Cache-Control` lets caches keep the response.
 */
export type Presence = 'always' | 'sometimes' | 'cached';
export type ResponseHeaders = Readonly<Partial<Record<HeaderName, Presence>>>;

/** Headers of every response. */
export const EVERY_RESPONSE: ResponseHeaders = {
  'X-Request-Id': 'always',
  'X-Content-Type-Options': 'always',
  'Cache-Control': 'always',
};

/** Headers of every response to a request that was charged to a bucket. */
export const chargedHeaders = (presence: Presence): ResponseHeaders => ({
  'X-RateLimit-Limit': presence,
  'X-RateLimit-Remaining': presence,
  RateLimit: presence,
  'RateLimit-Policy': presence,
});

/** Codes whose responses say when to retry. */
const RETRIED: readonly ErrorCode[] = ['rate_limited', ...RETRIED_AT_ONCE];

/** `Retry-After`, if any of the codes of this status carries it. */
export function retryHeader(codes: readonly ErrorCode[]): ResponseHeaders {
  const retried = codes.filter((code) => RETRIED.includes(code));
  if (retried.length === 0) return {};
  return { 'Retry-After': retried.length === codes.length ? 'always' : 'sometimes' };
}

/** The headers of one response, as references to {@link headerComponents}. */
export function headerReferences(headers: ResponseHeaders): Record<string, { $ref: string }> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, presence]) => [
      name,
      { $ref: `#/components/headers/${keyOf(name, presence)}` },
    ]),
  );
}

/** An optional header and a required one are separate components. */
export function headerComponents(): Record<string, object> {
  const entries = Object.entries<DescribedHeader>(HEADERS).flatMap(([name, header]) =>
    (['always', 'sometimes'] as const).map((presence) => [
      keyOf(name, presence),
      {
        description: header.description,
        required: presence === 'always',
        schema: header.schema,
        example: header.example,
      },
    ]),
  );
  const cached = [keyOf('Cache-Control', 'cached'), { ...CACHED, required: true }] as const;
  return Object.fromEntries([...entries, cached]) as Record<string, object>;
}

const keyOf = (name: string, presence: Presence): string => (presence === 'always' ? name : `${name}.${presence}`);

/** The only header that every request may carry. */
export const REQUEST_ID_PARAMETER = {
  name: 'X-Request-Id',
  in: 'header' as const,
  required: false,
  description:
    'Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.',
  // No pattern and no limit: a client that checked one would refuse values that the API accepts.
  schema: { type: 'string', 'x-unbounded': 'A value of another form is replaced, never refused.' },
  example: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
};
