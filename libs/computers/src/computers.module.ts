import { Module } from '@nestjs/common';
import { ComputerDirectory } from './domain/computer-directory.port';
import { ComputersController } from './http/computers.controller';
import { ComputerDirectoryTypeorm } from './typeorm/computer-directory.typeorm';

@Module({
  controllers: [ComputersController],
  providers: [{ provide: ComputerDirectory, useClass: ComputerDirectoryTypeorm }],
})
export class ComputersModule {}
