export { type ListFilters } from './cursors';
export { CURSOR, ExpandQueryDto, ExpandedPageQueryDto, PageCursor, PageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
