import { assetId, parseTimeBound } from '#libs/kernel';
import { namedEnum } from '#libs/platform/openapi';
import {
  AnyOf,
  Before,
  ExactId,
  ExactText,
  type ListFilters,
  PageQueryDto,
  TrueOrFalse,
} from '#libs/platform/pagination';
import type { ComputerFilter } from '../domain/computer-filter';
import { CHECKS, type Check } from '../domain/posture';

const COMPUTER_CHECK = namedEnum('ComputerCheck', CHECKS, 'A check of the posture of a computer.');

/** Query of the list of computers. Members are strings as sent; `toComputerFilter` converts them. */
export class ComputerQueryDto extends PageQueryDto {
  @TrueOrFalse({ example: true, description: 'True: only monitored computers. False: only others.' })
  isMonitored?: string;

  @AnyOf({
    list: COMPUTER_CHECK,
    example: ['ANTIVIRUS', 'SCREEN_LOCK'],
    description: 'Only computers that are known to fail one of these checks, separated by commas.',
  })
  failingAnyOf?: string;

  @AnyOf({
    list: COMPUTER_CHECK,
    example: ['ANTIVIRUS', 'SCREEN_LOCK'],
    description:
      'Only computers of which one of these checks is not known, separated by commas. Unknown is never failing.',
  })
  unknownAnyOf?: string;

  @Before({
    example: '2026-10-01T00:00:00Z',
    description: 'Only computers whose last check-in was earlier, or that never checked in.',
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
