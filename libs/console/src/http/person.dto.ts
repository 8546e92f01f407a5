import { Choice, Form, Text } from '#libs/platform/input';
import { namedEnum } from '#libs/platform/openapi';
import { ROLES, type Role } from '../domain/person';

@Form()
export class RoleDto {
  @Choice({ description: 'What the person may do.', list: namedEnum('Role', ROLES, 'A role.'), required: true })
  role!: Role;
}

@Form()
export class NewPersonDto extends RoleDto {
  @Text({ description: 'Address that the issuer verifies.', minLength: 1, maxLength: 254, required: true })
  email!: string;

  @Text({ description: 'Name for people.', minLength: 1, maxLength: 200, required: true })
  name!: string;

  @Text({ description: 'Id of the account at the issuer.', minLength: 1, maxLength: 255 })
  subject?: string;
}
