export { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded-postgres';
export { EmbeddedPostgresFault } from './embedded-postgres-fault';
