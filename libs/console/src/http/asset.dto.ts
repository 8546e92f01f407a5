import { CLASSIFICATIONS, MAX_DESCRIPTION_LENGTH } from '#libs/inventory';
import type { AssetId } from '#libs/kernel';
import { Choice, DistinctUuids, Form, Text, Uuid } from '#libs/platform/input';
import { namedEnum } from '#libs/platform/openapi';

const CLASSIFICATION = namedEnum('Classification', CLASSIFICATIONS, 'A classification.');

/** A field of an asset that is left empty is cleared. */
@Form()
export class AssetFieldsDto {
  @Text({ description: 'A part of the name or e-mail address of an employee.', maxLength: 1000 })
  owner?: string;

  @Uuid({ description: 'The employee who was chosen among several.' })
  ownerId?: AssetId;

  @Text({ description: 'What it is for.', maxLength: MAX_DESCRIPTION_LENGTH })
  description?: string;

  @Choice({ description: 'How confidential it is.', list: CLASSIFICATION })
  classification?: (typeof CLASSIFICATIONS)[number];

  @Text({ description: 'Tag keys, one in each line.', maxLength: 20_000 })
  tags?: string;

  @Text({ description: 'Version of the one asset that the form was made for.', maxLength: 20 })
  version?: string;
}

/** The ticked assets of a list, and what all of them get. */
@Form()
export class TickedAssetsDto extends AssetFieldsDto {
  @DistinctUuids({ description: 'Up to 100 assets.', required: true })
  ids!: AssetId[];
}
