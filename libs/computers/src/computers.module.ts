import { Module, type Provider } from '@nestjs/common';
import { ComputerDirectory } from './domain/computer-directory.port';
import { ComputersController } from './http/computers.controller';
import { ComputerDirectoryTypeorm } from './typeorm/computer-directory.typeorm';

/** Services that routes and pages call. */
export const computerServices: Provider[] = [{ provide: ComputerDirectory, useClass: ComputerDirectoryTypeorm }];

@Module({ controllers: [ComputersController], providers: computerServices })
export class ComputersModule {}
