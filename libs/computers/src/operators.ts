export { ComputersOperatorModule } from './computers-operator.module';
export { ListedComputers, type WrongComputerCount } from './typeorm/listed-computers';
