import { ApiProperty } from '@nestjs/swagger';
import { HistoryEntryDto } from '#libs/platform/change-pages';
import { ApiObject } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import { ChangedComputerDto } from './computer-change.dto';

@ApiObject({ name: 'ComputerHistoryEntry', description: 'One state of a computer.' })
export class ComputerHistoryEntryDto extends HistoryEntryDto {
  @ApiProperty({ type: ChangedComputerDto })
  computer!: ChangedComputerDto | null;
}

@ApiObject({ name: 'ComputerHistoryPage', description: 'A page of the states of a computer.' })
export class ComputerHistoryPageDto extends pageOf(ComputerHistoryEntryDto, 'The states, newest first.') {}
