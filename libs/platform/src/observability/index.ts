export { LogOutput } from './log-output';
export { Metrics } from './metrics';
export { ProcessLogger, createLog, logOfProcess } from './process-logger';
export { Tally } from './tally';
export { startTracing, traceRequest } from './tracing';
