export { STREAM_DESCRIPTION, asksForStream, refuseInstantOfPage, streamOf } from './stream-route';
export { type EndedStream, type StreamedList, type StreamedQuery, Streams } from './streams';
