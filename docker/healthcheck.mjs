// Whether the process in this container is alive: on the management port or, where that is off, on the public one.
const { PORT = '3000', MANAGEMENT_PORT = '9090' } = process.env;
const url =
  Number(MANAGEMENT_PORT) === 0
    ? `http://127.0.0.1:${Number(PORT)}/v1/health`
    : `http://127.0.0.1:${Number(MANAGEMENT_PORT)}/livez`;

setTimeout(() => process.exit(1), 2_500).unref();
fetch(url).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
