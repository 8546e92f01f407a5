import { Module } from '@nestjs/common';
import { ListedComputers } from './typeorm/listed-computers';

/** Lets operators maintain the list behind the filters of computers. */
@Module({ providers: [ListedComputers], exports: [ListedComputers] })
export class ComputersOperatorModule {}
