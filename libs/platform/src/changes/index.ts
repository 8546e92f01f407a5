export { ChangeFeed, type Feed } from './change-feed';
export { ChangeQueryDto } from './change-query.dto';
export { ChangeDto, FeedPageInfoDto, RESUME_CURSOR, toChangeDto } from './change.dto';
export { changesSchema } from './changes-schema';
export { FeedPaging } from './feed-paging';
export { feedStatement } from './feed-statement';
export { NEW_CHANGE_SET_ID, originCode, takeTicket } from './ticket';
