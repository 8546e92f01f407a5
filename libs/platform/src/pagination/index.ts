export { type ListFilters } from './cursors';
export { CURSOR, FindQueryDto, PageCursor, PageQueryDto, StreamedPageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
