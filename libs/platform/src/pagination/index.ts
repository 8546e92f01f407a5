export { type ListFilters } from './cursors';
export { CURSOR, PageCursor, PageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
