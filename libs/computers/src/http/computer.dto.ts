import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, EXPANDED_OWNER, OwnerDto, TAGS, TagDto, constant } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import type { Computer } from '../domain/computer';

/** Maximum length of a text in an import. */
const MAX_TEXT = 2000;
const known = (what: string, example: string) =>
  ({
    type: 'string',
    nullable: true,
    maxLength: MAX_TEXT,
    description: `${what}; null when unknown.`,
    example,
  }) as const;
const knownOrNot = (what: string) =>
  ({ type: 'boolean', nullable: true, description: `Whether ${what}; null when unknown.`, example: true }) as const;

/** Specification, CompliancePosture. Members are null when unknown. */
@ApiObject({
  name: 'CompliancePosture',
  description: 'The posture of a computer. An unknown value is null, never false.',
})
export class CompliancePostureDto {
  @ApiProperty(known('Version of the monitoring agent', '2.4.0'))
  agentVersion!: string | null;

  @ApiProperty(knownOrNot('an antivirus is installed'))
  antivirusInstalled!: boolean | null;

  @ApiProperty(knownOrNot('the disk is encrypted'))
  diskEncryptionEnabled!: boolean | null;

  @ApiProperty(knownOrNot('a password manager is installed'))
  passwordManagerInstalled!: boolean | null;

  @ApiProperty(knownOrNot('the screen locks'))
  screenLockEnabled!: boolean | null;
}

/** Specification, Computer. */
@ApiObject({ name: 'Computer', description: 'A computer of the inventory with its posture. Unknown values are null.' })
export class ComputerDto {
  @ApiProperty({
    format: 'uuid',
    description: 'Id of the computer, and of its COMPUTER asset.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14',
  })
  id!: string;

  @ApiProperty({ maxLength: 1000, description: 'Computer name or hostname.', example: 'ada-mbp' })
  name!: string;

  @ApiProperty(known('OS family', 'macOS'))
  operatingSystem!: string | null;

  @ApiProperty(known('OS version, without the family', '15.1'))
  osVersion!: string | null;

  @ApiProperty(known('Hardware serial number', 'C02XK'))
  serialNumber!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'Id of the employee who owns the asset; null without an owner.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  })
  ownerId!: string | null;

  @ApiProperty(EXPANDED_OWNER)
  owner?: OwnerDto | null;

  @ApiProperty({
    description: 'Whether a monitoring agent or a device management system has reported the computer.',
    example: true,
  })
  isMonitored!: boolean;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Last check-in, UTC; null when there was none.',
    example: '2026-11-01T00:00:00.000Z',
  })
  lastCheckedAt!: string | null;

  @ApiProperty({
    format: 'date-time',
    description: 'Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.',
    example: '2026-11-02T08:00:00.000Z',
  })
  updatedAt!: string;

  @ApiProperty({ minLength: 1, maxLength: 100, description: 'Import source of the computer.', example: 'mdm' })
  source!: string;

  @ApiProperty(TAGS)
  tags!: readonly TagDto[];

  @ApiProperty({ type: CompliancePostureDto, description: 'Its posture.' })
  compliance!: CompliancePostureDto;
}

@ApiObject({ name: 'ComputerPage', description: 'A page of computers.' })
export class ComputerPageDto extends pageOf(ComputerDto, 'The computers of the page.') {}

@ApiObject({ name: 'ComputerLine', description: 'A line of a stream with a computer.' })
export class ComputerLineDto {
  @ApiProperty({ ...constant('computer'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({ type: ComputerDto, description: 'The computer.' })
  computer!: ComputerDto;
}

/** Converts a computer to its response. */
export function toComputerDto(computer: Computer): ComputerDto {
  return {
    ...computer,
    lastCheckedAt: computer.lastCheckedAt?.toISOString() ?? null,
    updatedAt: computer.updatedAt.toISOString(),
  };
}
