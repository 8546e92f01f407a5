export { FindQueryDto, PageCursor, PageQueryDto, PageSize, StreamedPageQueryDto, pageOf } from './page.dto';
export { MAX_PAGE_BYTES, Paging } from './paging';
