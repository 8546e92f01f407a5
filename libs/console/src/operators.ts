export { ConsoleOperatorModule } from './console-operator.module';
export { LastAdministrator, NoSuchPerson, type Person, PersonThere, ROLES, type Role, isEmail } from './domain/person';
export { People } from './typeorm/people';
