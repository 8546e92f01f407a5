import { SCOPES, type Scope } from '#libs/kernel';
import { Choice, ChoiceList, Flag, Form, Instant, Text } from '#libs/platform/input';
import { namedEnum } from '#libs/platform/openapi';

const SCOPE_LIST = namedEnum('Scope', SCOPES, 'A scope.');
export const OVERLAPS = { none: null, '24h': 86_400, '7d': 604_800 } as const;
const OVERLAP = namedEnum('Overlap', Object.keys(OVERLAPS), 'A time.');

@Form()
export class ScopesDto {
  @ChoiceList({ description: 'Scopes of the application.', list: SCOPE_LIST, required: true })
  scopes!: Scope[];
}

@Form()
export class NewApplicationDto extends ScopesDto {
  @Text({ description: 'Name for people.', minLength: 1, maxLength: 200, required: true })
  name!: string;

  @Flag({ description: 'True: the program proves itself by a key.' })
  noSecret?: boolean;
}

@Form()
export class NewTrustDto {
  @Text({ description: 'Address of the issuer.', minLength: 1, maxLength: 500, required: true })
  issuer!: string;

  @Text({ description: 'Subject of its tokens.', minLength: 1, maxLength: 500, required: true })
  subject!: string;
}

@Form()
export class NewKeysDto {
  @Text({ description: 'A public JWK, or a set of them.', minLength: 1, maxLength: 20_000, required: true })
  jwk!: string;
}

@Form()
export class SecretDto {
  @Instant({ description: 'When the newest secret was made.' })
  madeAt?: Date;
}

@Form()
export class RotationDto extends SecretDto {
  @Choice({ description: 'How long the old secret is accepted.', list: OVERLAP, required: true })
  overlap!: keyof typeof OVERLAPS;
}
