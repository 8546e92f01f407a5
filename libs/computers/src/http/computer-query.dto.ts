import type { AssetId } from '#libs/kernel';
import { ChoiceList, DistinctUuids, ExactExternalId, ExactText, Flag, Instant, Uuid } from '#libs/platform/input';
import { namedEnum } from '#libs/platform/openapi';
import { StreamedPageQueryDto } from '#libs/platform/pagination';
import type { ComputerFilter } from '../domain/computer-filter';
import { CHECKS, type Check } from '../domain/posture';

const COMPUTER_CHECK = namedEnum('ComputerCheck', CHECKS, 'A check of the posture of a computer.');

/** Query of the list of computers. */
export class ComputerQueryDto extends StreamedPageQueryDto implements ComputerFilter {
  @Flag({ example: true, description: 'True: only monitored computers. False: only others.' })
  isMonitored?: boolean;

  @ChoiceList({
    list: COMPUTER_CHECK,
    example: ['ANTIVIRUS', 'SCREEN_LOCK'],
    description: 'Only computers that are known to fail one of these checks, separated by commas.',
  })
  failingAnyOf?: Check[];

  @ChoiceList({
    list: COMPUTER_CHECK,
    example: ['ANTIVIRUS', 'SCREEN_LOCK'],
    description:
      'Only computers of which one of these checks is not known, separated by commas. Unknown is never failing.',
  })
  unknownAnyOf?: Check[];

  @Instant({
    example: '2026-10-01T00:00:00Z',
    description: 'Only computers whose last check-in was earlier, or that never checked in.',
  })
  lastCheckedBefore?: Date;

  @DistinctUuids({
    description: 'Only these computers: 1 to 100 ids, separated by commas. An id that nobody has matches nothing.',
    example: ['018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14'],
  })
  ids?: AssetId[];

  @Uuid({
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
    description: 'Only computers of this owner.',
  })
  ownerId?: AssetId;

  @Flag({
    example: false,
    description:
      'False: only computers whose owner is no longer a visible employee, such as those of leavers. True: only computers whose owner is one.',
  })
  ownerVisible?: boolean;

  @ExactText({ example: 'C02XK', description: 'Only computers with this serial number.' })
  serialNumber?: string;

  @ExactExternalId({
    example: 'C02XK',
    description: 'Only computers with this id in their import source, whichever that is; add `source` for one of them.',
  })
  externalId?: string;

  @ExactText({ example: 'mdm', description: 'Only computers from this import source.' })
  source?: string;
}
