export { ComputersModule } from './computers.module';
