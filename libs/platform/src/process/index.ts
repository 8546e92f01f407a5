export { NOTICE_MS } from './graceful-stop';
export { reasonOfFailedStart } from './listen';
export { serve } from './serve';
