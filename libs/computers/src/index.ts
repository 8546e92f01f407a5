export { ComputersModule } from './computers.module';
export { computersSchema } from './typeorm/schema';
