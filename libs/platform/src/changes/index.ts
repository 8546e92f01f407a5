export { ChangeFeed, type Feed } from './change-feed';
export { changesSchema } from './changes-schema';
export { FeedRestart } from './feed-restart';
export { feedStatement } from './feed-statement';
export { History, type Past } from './history';
export { type HistoryRows, OWNER_THEN, entriesOf, findThen, listThen } from './history-statements';
export { NEW_CHANGE_SET_ID, originCode, takeTicket } from './ticket';
