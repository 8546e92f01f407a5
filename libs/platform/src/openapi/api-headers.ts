import type { ErrorCode } from '#libs/kernel';

interface DescribedHeader {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number;
}

/** Every response header that clients may rely on. */
const HEADERS = {
  'X-Request-Id': {
    description:
      'Id of the request: the one that the client sent, if it is well-formed, else one of ours. Quote it in reports.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    example: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
  },
  'X-Content-Type-Options': {
    description: 'The answer is of its `Content-Type` and nothing else.',
    schema: { type: 'string', pattern: '^nosniff$' },
    example: 'nosniff',
  },
  'Cache-Control': {
    description: 'Answers are of one moment and one caller; no cache may keep them.',
    schema: { type: 'string', pattern: '^no-store$' },
    example: 'no-store',
  },
  'X-RateLimit-Limit': {
    description: 'Requests that a full bucket of this class (token, read or write) allows at once.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
    example: 100,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests of this class that are left now.',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999 },
    example: 99,
  },
  RateLimit: {
    description: 'Class, requests left (`r`) and seconds until the bucket is full (`t`); IETF draft ratelimit-headers.',
    schema: { type: 'string', pattern: '^"(token|read|write)";r=[0-9]+;t=[0-9]+$', maxLength: 64 },
    example: '"read";r=99;t=2',
  },
  'RateLimit-Policy': {
    description:
      'Class, size of the bucket (`q`) and seconds that an empty one takes to fill (`w`); IETF draft ratelimit-headers.',
    schema: { type: 'string', pattern: '^"(token|read|write)";q=[0-9]+;w=[0-9]+$', maxLength: 64 },
    example: '"read";q=100;w=120',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
    example: 2,
  },
  'WWW-Authenticate': {
    description:
      'How to authenticate: by a bearer token (RFC 6750), with `error` where one was refused and `scope` where one is ' +
      'missing; at the token endpoint by `Basic`, where the request had used that.',
    schema: { type: 'string', minLength: 1, maxLength: 512 },
    example: 'Bearer realm="compliance-api", error="invalid_token", error_description="The bearer token has expired."',
  },
  ETag: {
    description: 'Strong entity tag of this version of the asset, for `If-Match`.',
    schema: { type: 'string', pattern: '^"[!#-~]*"$', maxLength: 64 },
    example: '"7"',
  },
  'Idempotent-Replayed': {
    description: 'The answer was given before under this `Idempotency-Key`; nothing was done now.',
    schema: { type: 'string', pattern: '^true$' },
    example: 'true',
  },
  Link: {
    description: 'Address of the next page, with the parameters of this request (RFC 8288); absent on the last page.',
    schema: { type: 'string', pattern: '^<[^<>"]+>; rel="next"$' },
    example: '<https://api.example.com/v1/inventory/assets?pageSize=50&pageCursor=AUM1cGt3>; rel="next"',
  },
  Allow: {
    description: 'The methods that this path has.',
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', maxLength: 64 },
    example: 'GET, HEAD',
  },
} as const satisfies Readonly<Record<string, DescribedHeader>>;

/** `Cache-Control` of a response that is the same for everybody. */
const CACHED: DescribedHeader = {
  description: 'The answer is the same for everybody; caches may keep it for so many seconds.',
  schema: { type: 'string', pattern: '^public, max-age=[0-9]+$', maxLength: 64 },
  example: 'public, max-age=3600',
};

export type HeaderName = keyof typeof HEADERS;
/**
 * `always`: the header is present whenever the response is. `sometimes`: only in the cases of its description. `cached`:
 * `Cache-Control` lets caches keep the response.
 */
export type Presence = 'always' | 'sometimes' | 'cached';
export type AnswerHeaders = Readonly<Partial<Record<HeaderName, Presence>>>;

/** Headers of every response. */
export const EVERY_ANSWER: AnswerHeaders = {
  'X-Request-Id': 'always',
  'X-Content-Type-Options': 'always',
  'Cache-Control': 'always',
};

/** Headers of every response to a request that was charged to a bucket. */
export const chargedAnswer = (presence: Presence): AnswerHeaders => ({
  'X-RateLimit-Limit': presence,
  'X-RateLimit-Remaining': presence,
  RateLimit: presence,
  'RateLimit-Policy': presence,
});

/** Codes whose responses say when to retry. */
const RETRIED: readonly ErrorCode[] = ['rate_limited', 'service_unavailable', 'idempotency_in_progress'];

/** `Retry-After`, if any of the codes of this status carries it. */
export function retryHeader(codes: readonly ErrorCode[]): AnswerHeaders {
  const retried = codes.filter((code) => RETRIED.includes(code));
  if (retried.length === 0) return {};
  return { 'Retry-After': retried.length === codes.length ? 'always' : 'sometimes' };
}

/** The headers of one response, as references to {@link headerComponents}. */
export function headerReferences(headers: AnswerHeaders): Record<string, { $ref: string }> {
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
