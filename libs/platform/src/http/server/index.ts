export { acceptTarget } from './accept-target';
export { ApiServerAdapter } from './api-server';
export { HttpMetrics } from './http-metrics';
export { KEEP_ALIVE_MS } from './keep-alive';
export { ProblemFilter } from './problem.filter';
export { sourceOf, trustProxies } from './source-address';
export { logAccess, whenServed } from './when-served';
