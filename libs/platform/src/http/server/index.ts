export { acceptTarget, hasTooManyHeaders } from './accept-target';
export { ApiServerAdapter, strictExpress } from './api-server';
export { boundConnections, closeUnread, leavesChunks } from './closing';
export { formReader } from './form-reader';
export { HttpMetrics } from './http-metrics';
export { PipelinedRequests } from './pipelined-requests';
export { ProblemFilter } from './problem.filter';
export { sourceOf, trustProxies } from './source-address';
export { UnsentBytes } from './unsent-bytes';
