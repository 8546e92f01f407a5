import { ApiProperty } from '@nestjs/swagger';
import { DayDto, ItemCount } from '#libs/platform/change-pages';
import type { CountedDay } from '#libs/platform/changes';
import { ApiObject, example } from '#libs/platform/openapi';
import { CHECKS, type Check, POSTURES } from '../domain/posture';

@ApiObject({ name: 'CheckCounts', description: 'Visible computers by the state of one check.' })
export class CheckCountsDto {
  @ItemCount('The check passes.')
  passing!: number;

  @ItemCount('The check fails.')
  failing!: number;

  @ItemCount('The check is not known.')
  unknown!: number;
}

const CHECK_COUNTS = { type: CheckCountsDto, description: 'Computers by its state.' };

@ApiObject({ name: 'CheckCountsByCheck', description: 'Visible computers by check.' })
export class CheckCountsByCheckDto implements Record<Check, CheckCountsDto> {
  @ApiProperty(CHECK_COUNTS)
  ANTIVIRUS!: CheckCountsDto;

  @ApiProperty(CHECK_COUNTS)
  DISK_ENCRYPTION!: CheckCountsDto;

  @ApiProperty(CHECK_COUNTS)
  PASSWORD_MANAGER!: CheckCountsDto;

  @ApiProperty(CHECK_COUNTS)
  SCREEN_LOCK!: CheckCountsDto;
}

@ApiObject({ name: 'ComputerDay', description: 'Counts of visible computers on one day.' })
export class ComputerDayDto extends DayDto {
  @ItemCount('Visible computers, monitored or not.')
  total!: number;

  @ItemCount('Those that are monitored.')
  monitored!: number;

  @ApiProperty({ type: CheckCountsByCheckDto, description: 'All of them by the state of each check.' })
  checks!: CheckCountsByCheckDto;
}

@ApiObject({ name: 'ComputerSummary', description: 'Counts of visible computers by day.' })
export class ComputerSummaryDto {
  @ApiProperty({ type: [ComputerDayDto], maxItems: 400, description: 'The days, oldest first.' })
  results!: ComputerDayDto[];
}

const MEMBERS = { PASSING: 'passing', FAILING: 'failing', UNKNOWN: 'unknown' } as const;

/** Counts of postures as clients see them. */
export function toComputerDayDto({ date, isFinal, cells }: CountedDay): ComputerDayDto {
  const none = (): CheckCountsDto => ({ passing: 0, failing: 0, unknown: 0 });
  const checks = { ANTIVIRUS: none(), DISK_ENCRYPTION: none(), PASSWORD_MANAGER: none(), SCREEN_LOCK: none() };
  const day: ComputerDayDto = { date, isFinal, total: 0, monitored: 0, checks };
  for (const [place, n = 0] of cells) {
    // Without one nothing is known of the computer.
    const posture = POSTURES[place ?? 0];
    if (!posture) continue;
    day.total += n;
    if (posture.isMonitored) day.monitored += n;
    for (const check of CHECKS) checks[check][MEMBERS[posture.checks[check]]] += n;
  }
  return day;
}

export const COMPUTER_SUMMARY_EXAMPLES = {
  day: example<ComputerSummaryDto>('A past day', {
    results: [
      toComputerDayDto({
        date: '2026-11-24',
        isFinal: true,
        cells: [
          [161, 850],
          [0, 50],
        ],
      }),
    ],
  }),
};
