import { ApiProperty } from '@nestjs/swagger';
import { HistoryEntryDto } from '#libs/platform/change-pages';
import { ApiObject } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import { ComputerDto } from './computer.dto';

/** A reference to a schema cannot be null in OpenAPI 3.0, so this is one of its own. */
@ApiObject({
  name: 'FormerComputer',
  description: 'The computer as by id, as it was; null while it was hidden or deleted.',
  nullable: true,
})
export class FormerComputerDto extends ComputerDto {}

@ApiObject({ name: 'ComputerHistoryEntry', description: 'One state of a computer.' })
export class ComputerHistoryEntryDto extends HistoryEntryDto {
  @ApiProperty({ type: FormerComputerDto })
  computer!: FormerComputerDto | null;
}

@ApiObject({ name: 'ComputerHistoryPage', description: 'A page of the states of a computer.' })
export class ComputerHistoryPageDto extends pageOf(ComputerHistoryEntryDto, 'The states, newest first.') {}
