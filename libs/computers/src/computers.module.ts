import { Module } from '@nestjs/common';
import { ComputerDirectory } from './domain/computer-directory.port';
import { ComputerFeed } from './domain/computer-feed.port';
import { ComputerChangesController } from './http/computer-changes.controller';
import { ComputersController } from './http/computers.controller';
import { ComputerDirectoryTypeorm } from './typeorm/computer-directory.typeorm';
import { ComputerFeedTypeorm } from './typeorm/computer-feed.typeorm';

@Module({
  // Before the route of one computer, whose id `changes` would be.
  controllers: [ComputerChangesController, ComputersController],
  providers: [
    { provide: ComputerDirectory, useClass: ComputerDirectoryTypeorm },
    { provide: ComputerFeed, useClass: ComputerFeedTypeorm },
  ],
})
export class ComputersModule {}
