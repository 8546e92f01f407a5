import { ApiProperty } from '@nestjs/swagger';
import { PageInfoDto } from '#libs/platform';
import type { Computer } from '../domain/computer';

export class ComputerTagDto {
  @ApiProperty({ maxLength: 1000 })
  key!: string;

  @ApiProperty({ maxLength: 255 })
  value!: string;

  @ApiProperty({ description: '`true` for platform-managed tags.' })
  readOnly!: boolean;
}

const UNKNOWN_OR_NOT = { type: 'boolean', nullable: true, description: 'null when unknown.' } as const;

/** Specification, CompliancePosture: aggregate posture, members null when nothing is known. */
export class CompliancePostureDto {
  @ApiProperty({ type: 'string', nullable: true, description: 'Monitoring agent version, if present.' })
  agentVersion!: string | null;

  @ApiProperty(UNKNOWN_OR_NOT)
  antivirusInstalled!: boolean | null;

  @ApiProperty(UNKNOWN_OR_NOT)
  diskEncryptionEnabled!: boolean | null;

  @ApiProperty(UNKNOWN_OR_NOT)
  passwordManagerInstalled!: boolean | null;

  @ApiProperty(UNKNOWN_OR_NOT)
  screenLockEnabled!: boolean | null;
}

/** Specification, Computer. */
export class ComputerDto {
  @ApiProperty({ format: 'uuid', description: 'Public computer id: that of its COMPUTER asset.' })
  id!: string;

  @ApiProperty({ description: 'Computer name or hostname.' })
  name!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'OS family.' })
  operatingSystem!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'OS version only.' })
  osVersion!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Hardware serial number.' })
  serialNumber!: string | null;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, description: "Owner's employee UUID." })
  ownerId!: string | null;

  @ApiProperty({ description: 'Whether an agent or a device management has reported the device.' })
  isMonitored!: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Last device check-in.' })
  lastCheckedAt!: string | null;

  @ApiProperty({ type: [ComputerTagDto], description: 'Sorted by the code points of the key.' })
  tags!: readonly ComputerTagDto[];

  @ApiProperty({ type: CompliancePostureDto })
  compliance!: CompliancePostureDto;
}

export class ComputerPageDto {
  @ApiProperty({ type: [ComputerDto] })
  results!: ComputerDto[];

  @ApiProperty({ type: PageInfoDto })
  pageInfo!: PageInfoDto;
}

/** The computer as clients see it. */
export function toComputerDto(computer: Computer): ComputerDto {
  return { ...computer, lastCheckedAt: computer.lastCheckedAt?.toISOString() ?? null };
}
