export { FindQueryDto, PageCursor, PageQueryDto, PageSize, StreamedPageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
