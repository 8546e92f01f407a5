export { type ListFilters } from './cursors';
export { PageInfoDto } from './page-info.dto';
export { PageQueryDto } from './page-query.dto';
export { Paging } from './paging';
