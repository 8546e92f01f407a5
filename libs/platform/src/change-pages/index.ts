export { DayDto, DaysQueryDto, ItemCount } from './day.dto';
export { ChangeQueryDto } from './change-query.dto';
export { ChangeDto, toChangeDto } from './change.dto';
export { HistoryEntryDto, toHistoryEntryDto } from './history.dto';
export { changePageOf, feedPageOf } from './feed-page.dto';
export { FeedPaging, feedStartOf, refuseSinceBesideCursor } from './feed-paging';
