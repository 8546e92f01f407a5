import { ApiProperty } from '@nestjs/swagger';
import { SCOPES } from '#libs/kernel';
import { ApiObject, openEnum, example } from '#libs/platform/openapi';

const UUID = { format: 'uuid', example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20' } as const;
const count = (description: string, example: number, minimum = 1) =>
  ({ type: 'integer', minimum, maximum: 999_999_999, description, example }) as const;
const moment = (description: string, example: string) => ({ format: 'date-time', description, example }) as const;
const scopes = (description: string) =>
  ({
    type: 'array',
    items: openEnum(SCOPES, 'A scope.'),
    maxItems: 64,
    description,
    example: ['inventory:read'],
  }) as const;

@ApiObject({ name: 'MyWorkspace', description: 'The workspace of the application.' })
export class MyWorkspaceDto {
  @ApiProperty({ ...UUID, description: 'Workspace id.' })
  id!: string;

  @ApiProperty({ maxLength: 63, description: 'Short name of the workspace, unique.', example: 'acme' })
  slug!: string;
}

@ApiObject({ name: 'MyApplication', description: 'The application that the token speaks for.' })
export class MyApplicationDto {
  @ApiProperty({ ...UUID, description: 'Application id.' })
  id!: string;

  @ApiProperty({ maxLength: 200, description: 'Client id.', example: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8' })
  clientId!: string;

  @ApiProperty({ maxLength: 1000, description: 'Name that the operator gave it.', example: 'siem' })
  name!: string;
}

@ApiObject({ name: 'MyToken', description: 'The token of the request.' })
export class MyTokenDto {
  @ApiProperty(moment('When it was issued, UTC.', '2026-11-01T00:00:00.000Z'))
  issuedAt!: string;

  @ApiProperty(moment('When it expires, UTC.', '2026-11-01T01:00:00.000Z'))
  expiresAt!: string;

  @ApiProperty(scopes('Scopes of the token that the application still has.'))
  scopes!: readonly string[];
}

@ApiObject({ name: 'MyLimit', description: 'A token bucket of the application.' })
export class MyLimitDto {
  @ApiProperty(count('Tokens in a full bucket.', 100))
  burst!: number;

  @ApiProperty(count('Tokens that come back each minute.', 50))
  perMinute!: number;

  @ApiProperty(count('Whole tokens left.', 98, 0))
  remaining!: number;
}

@ApiObject({ name: 'MyLimits', description: 'The token buckets of the application.' })
export class MyLimitsDto {
  @ApiProperty({ type: MyLimitDto, description: '`GET` and `HEAD` under `/v1`.' })
  read!: MyLimitDto;

  @ApiProperty({ type: MyLimitDto, description: 'Every other method under `/v1`.' })
  write!: MyLimitDto;

  @ApiProperty({ type: MyLimitDto, description: '`POST /oauth/token`.' })
  token!: MyLimitDto;
}

@ApiObject({ name: 'Me', description: 'The application of the token, what it may do, and how often.' })
export class MeDto {
  @ApiProperty({ type: MyWorkspaceDto, description: 'The workspace of the application.' })
  workspace!: MyWorkspaceDto;

  @ApiProperty({ type: MyApplicationDto, description: 'The application that the token speaks for.' })
  application!: MyApplicationDto;

  @ApiProperty({ type: MyTokenDto, description: 'The token of the request.' })
  token!: MyTokenDto;

  @ApiProperty(scopes('Scopes that the application has now. A new token may have all of them.'))
  grantedScopes!: readonly string[];

  @ApiProperty({ type: MyLimitsDto, description: 'Limits of the application, and the tokens left.' })
  limits!: MyLimitsDto;
}

export const ME_EXAMPLES = {
  narrowed: example<MeDto>('Token with fewer scopes than were granted', {
    workspace: { id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20', slug: 'acme' },
    application: {
      id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c21',
      clientId: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
      name: 'siem',
    },
    token: {
      issuedAt: '2026-11-01T00:00:00.000Z',
      expiresAt: '2026-11-01T01:00:00.000Z',
      scopes: ['inventory:read'],
    },
    grantedScopes: ['inventory:read', 'inventory:write'],
    limits: {
      read: { burst: 100, perMinute: 50, remaining: 98 },
      write: { burst: 40, perMinute: 20, remaining: 40 },
      token: { burst: 10, perMinute: 5, remaining: 9 },
    },
  }),
};
