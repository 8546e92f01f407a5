export { ConsoleOperatorModule } from './console-operator.module';
export { LastAdministrator, NoSuchPerson, type Person, PersonThere, type Role } from './domain/person';
export { People } from './typeorm/people';
