import { NotFoundException } from '@nestjs/common';
import { type AssetId, assetId, isUuid } from '#libs/kernel';

/** An address with anything but an id leads nowhere. */
export function idOf(text: string): AssetId {
  if (!isUuid(text)) throw new NotFoundException();
  return assetId(text);
}
