import type { AssetFilter } from '../../../libs/inventory/src/domain/asset-filter';
import type { AssetRepositoryTypeorm } from '../../../libs/inventory/src/typeorm/asset-repository.typeorm';
import { milliseconds } from '../statistics';
import type { Place } from './depths';

/**
 * Milliseconds of each full page among those after positions drawn by lot, a new one each time: in a large workspace
 * hardly any was read before. Fewer than were drawn where few assets match, for whose pages many positions are too late.
 */
export async function timeRandomPages(
  repository: AssetRepositoryTypeorm,
  { workspace, least, most }: Place,
  filter: AssetFilter,
  { drawn, size }: { readonly drawn: number; readonly size: number },
): Promise<number[]> {
  const elapsed: number[] = [];
  for (let count = 0; count < drawn; count += 1) {
    const after = String(least + BigInt(Math.floor(Math.random() * Number(most - least))));
    let items = 0;
    const time = await milliseconds(async () => {
      items = (await repository.list(workspace, filter, { size, after })).items.length;
    });
    if (items === size) elapsed.push(time);
  }
  return elapsed;
}
