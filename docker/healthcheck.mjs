// Checks that the instance in this container is alive, on the management port or, when that is off, on the public port.
// Reads the settings as the instance does: empty means not set. `healthcheck.mjs console` checks a console, which needs its
// management port for that.
const given = (name, otherwise) => process.env[name] || otherwise;
const managed = Number(given('MANAGEMENT_PORT', '9090'));
const [host, port, path] =
  process.argv[2] === 'console'
    ? [given('CONSOLE_MANAGEMENT_HOST', '127.0.0.1'), Number(given('CONSOLE_MANAGEMENT_PORT', '9091')), '/livez']
    : managed === 0
      ? [given('HOST', '127.0.0.1'), Number(given('PORT', '3000')), '/v1/health']
      : [given('MANAGEMENT_HOST', '127.0.0.1'), managed, '/livez'];
const everywhere = host === '0.0.0.0' || host === '::';
const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

setTimeout(() => process.exit(1), 2_500).unref();
fetch(`http://${name}:${port}${path}`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
