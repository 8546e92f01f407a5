export { computerServices } from './computers.module';
export { type Computer } from './domain/computer';
export { ComputerDirectory } from './domain/computer-directory.port';
export { CHECKS } from './domain/posture';
export { toComputerDayDto } from './http/computer-summary.dto';
export { ComputerQueryDto } from './http/computer-query.dto';
