export { FindQueryDto, PageCursor, PageQueryDto, StreamedPageQueryDto, pageOf } from './page.dto';
export { Paging } from './paging';
