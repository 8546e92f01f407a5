export { MANAGEMENT_IN_FLIGHT_MS, NOTICE_MS, ServedConnections, onStopSignal } from './graceful-stop';
export { listen, reasonOfFailedStart } from './listen';
export { createManagementServer } from './management-server';
export { ReadinessWatch } from './readiness';
