export { asksForStream } from './asks-for-stream';
export { STREAM_DESCRIPTION, streamOf } from './documented-stream';
export { type ExportedList } from './exported-list';
export { type EndedStream, Exports } from './exports';
