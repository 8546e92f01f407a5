export { acceptTarget } from './accept-target';
export { logAccess } from './access-log';
export { ApiServerAdapter } from './api-server';
export { HttpMetrics } from './http-metrics';
export { ProblemFilter } from './problem.filter';
export { sourceOf, trustProxies } from './source-address';
export { whenServed } from './when-served';
