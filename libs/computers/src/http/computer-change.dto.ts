import { ApiProperty } from '@nestjs/swagger';
import type { Change } from '#libs/kernel';
import { ChangeDto, changePageOf, toChangeDto } from '#libs/platform/change-pages';
import { ApiObject } from '#libs/platform/openapi';
import type { Computer } from '../domain/computer';
import { ComputerDto, toComputerDto } from './computer.dto';

/** A reference to a schema cannot be null in OpenAPI 3.0, so this is one of its own. */
@ApiObject({ name: 'ChangedComputer', description: 'The computer as by id; null when it was removed.', nullable: true })
export class ChangedComputerDto extends ComputerDto {}

@ApiObject({ name: 'ComputerChange', description: 'The latest change of one computer.' })
export class ComputerChangeDto extends ChangeDto {
  @ApiProperty({ type: ChangedComputerDto })
  computer!: ChangedComputerDto | null;
}

@ApiObject({ name: 'ComputerChangePage', description: 'A page of changes of computers.' })
export class ComputerChangePageDto extends changePageOf(ComputerChangeDto) {}

export const toComputerChangeDto = (change: Change<string, Computer>): ComputerChangeDto => ({
  ...toChangeDto(change),
  computer: change.item && toComputerDto(change.item),
});
