export { ChangeFeed, MAX_FEED_PAGE_BYTES } from './change-feed';
export { changesSchema } from './changes-schema';
export { type Counted, type CountedDay, DayCounts, endOf } from './day-counts';
export { FeedRestart } from './feed-restart';
export { feedStatement } from './feed-statement';
export { History } from './history';
export { historyOf } from './history-statements';
export { NEW_CHANGE_SET_ID, originCode, takeTicket } from './ticket';
