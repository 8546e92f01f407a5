export { asksForStream } from './asks-for-stream';
export { STREAM_DESCRIPTION, streamOf } from './documented-stream';
export { type EndedStream, type StreamedList, type StreamedQuery, Streams, refuseInstantOfPage } from './streams';
