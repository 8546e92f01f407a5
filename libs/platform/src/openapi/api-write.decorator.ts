import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiExtraModels, ApiHeader, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '#libs/kernel';
import type { BodyExamples } from './api-success.decorator';

/** Marks the whole body of a write. Nest's own knows one schema, whatever the media type. */
export const WHOLE_BODY = 'x-whole-body';

interface WriteBody<Body> {
  readonly type: Type<Body>;
  readonly examples: BodyExamples<Body>;
}

/**
 * Documents the key and the body of a write under /v1. The two media types have separate schemas, because null keeps a
 * value in one and clears it in the other. JSON comes first, because generated clients send the first by default.
 */
export function ApiWrite<Json, MergePatch>(write: {
  /** Tools send the example, so each operation has its own: a key belongs to one request. */
  readonly exampleKey: string;
  readonly json: WriteBody<Json>;
  readonly mergePatch: WriteBody<MergePatch>;
}): MethodDecorator {
  const { json, mergePatch } = write;
  const content = ({ type, examples }: WriteBody<unknown>) => ({
    schema: { $ref: getSchemaPath(type) },
    examples: { ...examples },
  });
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description:
        'A key of your choice, new for each change. To retry, send the same request with the same key: the API applies it once and returns the first response again, with `Idempotent-Replayed: true`. A key lives 24 hours by default. It has 1 to 256 characters after trimming, and no control characters.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        pattern: KEY_PATTERN,
        example: write.exampleKey,
      },
    }),
    ApiExtraModels(json.type, mergePatch.type),
    ApiExtension(WHOLE_BODY, {
      required: true,
      description:
        'At most 256 KiB, not compressed. As `application/json`, a field that is absent or null stays as it is. As `application/merge-patch+json` (RFC 7396), null clears a field.',
      content: { 'application/json': content(json), 'application/merge-patch+json': content(mergePatch) },
    }),
  );
}

/** At least one visible character, and no control characters. */
const KEY_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** Codes of every write. */
export const WRITE_PROBLEMS: readonly ErrorCode[] = [
  'idempotency_conflict',
  'idempotency_in_progress',
  'payload_too_large',
  'unsupported_media_type',
];
