import { FORMATS, type Format, MapLibrary } from '#libs/inventory/operators';
import { Choice, Flag, Form, Text } from '#libs/platform/input';
import { namedEnum } from '#libs/platform/openapi';

export const MAPS = new MapLibrary().list().map(({ name }) => name);
const MISSING = namedEnum('Missing', ['keep', 'hide'], 'What to do.');

/** The options of `admin import` that are no path and no name. */
@Form()
export class UploadDto {
  @Text({ description: 'The system that the records come from.', minLength: 1, maxLength: 100, required: true })
  source!: string;

  @Choice({ description: 'Name of a ready map.', list: namedEnum('Map', MAPS, 'A map.') })
  map?: string;

  @Choice({ description: 'Format of the file.', list: namedEnum('Format', FORMATS, 'A format.') })
  format?: Format;

  @Choice({ description: 'What to do with assets that the file does not name.', list: MISSING, required: true })
  missing!: 'keep' | 'hide';

  @Text({ description: 'The most assets to hide.', maxLength: 20 })
  hideAtMost?: string;

  @Flag({ description: 'True makes each warning an error of its record.' })
  strict?: boolean;

  @Choice({ description: 'Finds computers again.', list: namedEnum('RekeyBy', ['serialNumber'], 'A member.') })
  rekeyBy?: 'serialNumber';

  @Choice({ description: 'Creates missing tag keys.', list: namedEnum('TagKeyKind', ['platform'], 'A kind.') })
  createTagKeys?: 'platform';
}
