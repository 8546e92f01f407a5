import { Injectable } from '@nestjs/common';
import { type Page, type PageRequest, toPage } from '#libs/kernel';
import { ASSET_CATEGORIES, type AssetCategory } from '../domain/asset-category';

/** The five categories, paged like every list. */
@Injectable()
export class CategoriesService {
  list(page: PageRequest): Page<AssetCategory> {
    const start = ASSET_CATEGORIES.findIndex((category) => category.key === page.after) + 1;
    const found = ASSET_CATEGORIES.slice(start).map((category) => ({ position: category.key, ...category }));
    return toPage(found, page.size, ASSET_CATEGORIES.length);
  }
}
