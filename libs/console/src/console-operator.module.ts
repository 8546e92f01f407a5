import { Module } from '@nestjs/common';
import { AuditOperatorModule } from '#libs/audit/operators';
import { People } from './typeorm/people';

/** Lets operators say who may use the console. */
@Module({ imports: [AuditOperatorModule], providers: [People], exports: [People] })
export class ConsoleOperatorModule {}
