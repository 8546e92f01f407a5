import { ApiPropertyOptional } from '@nestjs/swagger';
import { assetId, parseTimeBound } from '#libs/kernel';
import { AnyOf, ExactId, ExactText, type ListFilters, PageQueryDto } from '#libs/platform/pagination';
import { IsIn, IsOptional, ValidateBy } from 'class-validator';
import type { ComputerFilter } from '../domain/computer-filter';
import { CHECKS, type Check } from '../domain/posture';
import { COMPUTER_CHECK } from './computer-enums';

const BOOLEANS = ['true', 'false'] as const;
const CHECK_VALUES = { values: CHECKS, schemaName: COMPUTER_CHECK.enumName, example: ['ANTIVIRUS', 'SCREEN_LOCK'] };

/** Query of the list of computers. Members are strings as sent; `toComputerFilter` converts them. */
export class ComputerQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    type: 'boolean',
    example: true,
    description: 'True: only monitored computers. False: only others.',
  })
  @IsOptional()
  @IsIn(BOOLEANS, { message: `isMonitored must be one of ${BOOLEANS.join(', ')}` })
  isMonitored?: string;

  @AnyOf({
    ...CHECK_VALUES,
    description: 'Only computers that are known to fail one of these checks, separated by commas.',
  })
  failingAnyOf?: string;

  @AnyOf({
    ...CHECK_VALUES,
    description:
      'Only computers of which one of these checks is not known, separated by commas. Unknown is never failing.',
  })
  unknownAnyOf?: string;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    maxLength: 40,
    example: '2026-10-01T00:00:00Z',
    description: 'Only computers whose last check-in was earlier, or that never checked in.',
  })
  @IsOptional()
  @ValidateBy({
    name: 'dateTime',
    validator: {
      validate: (value) => typeof value === 'string' && parseTimeBound(value) !== null,
      defaultMessage: () => 'lastCheckedBefore must be a date-time such as 2026-01-02T03:04:05Z',
    },
  })
  lastCheckedBefore?: string;

  @ExactId({
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
    description: 'Only computers of this owner.',
  })
  ownerId?: string;

  @ExactText({ example: 'C02XK', description: 'Only computers with this serial number.' })
  serialNumber?: string;

  @ExactText({
    example: 'C02XK',
    description: 'Only computers with this id in their import source, whichever that is; add `source` for one of them.',
  })
  externalId?: string;

  @ExactText({ example: 'mdm', description: 'Only computers from this import source.' })
  source?: string;
}

/** Converts filters, already validated by {@link ComputerQueryDto}, to the domain's filter. */
export function toComputerFilter(filters: ListFilters): ComputerFilter {
  return Object.fromEntries(
    Object.entries(filters).map(([name, text]) => [name, CONVERSIONS[name as keyof ComputerFilter](text)]),
  );
}

const toChecks = (text: string): Check[] => text.split(',') as Check[];
const CONVERSIONS: { readonly [Name in keyof ComputerFilter]-?: (text: string) => ComputerFilter[Name] } = {
  isMonitored: (text) => text === 'true',
  ownerId: assetId,
  serialNumber: String,
  externalId: String,
  source: String,
  failingAnyOf: toChecks,
  unknownAnyOf: toChecks,
  lastCheckedBefore: (text) => parseTimeBound(text) ?? new Date(Number.NaN),
};
