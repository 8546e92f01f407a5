import { type Type, applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiExtraModels, ApiHeader } from '@nestjs/swagger';
import type { ErrorCode } from '#libs/kernel';
import type { AnswerExamples } from './api-answer.decorator';
import { JSON_MEDIA_TYPES } from './json-body';

/** Documents what every write under /v1 takes: a key, and a body in one of two media types. */
export function ApiWrite<Body>(body: Type<Body>, examples: AnswerExamples<Body>): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description:
        'One key for each change, the same again when it is sent again: 1 to 256 characters after trimming, no control ' +
        'characters, one header. The first answer is kept for 24 hours, unless the operator chose otherwise, and replayed, byte for byte, with ' +
        '`Idempotent-Replayed: true`.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        pattern: KEY_PATTERN,
        example: 'd0f4a2c8-5b1e-4f7a-9c36-2e8b7a1d9f03',
      },
    }),
    ApiConsumes(...JSON_MEDIA_TYPES),
    ApiExtraModels(body),
    ApiBody({
      type: body,
      required: true,
      description:
        'At most 256 KiB, not compressed. As `application/json` an absent and a null member both keep what is there. As ' +
        '`application/merge-patch+json` (RFC 7396) null clears it.',
      examples: { ...examples },
    }),
  );
}

/** Something visible, and nothing that is a control character. */
const KEY_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** Codes that every write can answer. */
export const WRITE_PROBLEMS: readonly ErrorCode[] = [
  'idempotency_conflict',
  'idempotency_in_progress',
  'payload_too_large',
  'unsupported_media_type',
];
