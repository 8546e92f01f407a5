export { ChangeQueryDto } from './change-query.dto';
export { ChangeDto, FeedPageInfoDto, RESUME_CURSOR, toChangeDto } from './change.dto';
export { FeedPaging, feedStartOf } from './feed-paging';
