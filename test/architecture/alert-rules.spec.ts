import { at, readYaml } from './deployment-files';
import { type Series, aConsole, always, anInstance, changed, differences, growing, then } from './alert-series';

const fleet = (names: string): Series =>
  Object.assign({}, ...[...names].map((name) => anInstance(name, names.length))) as Series;
const two = fleet('ab');
const withConsole = { ...two, ...aConsole };
/** Two instances and other values of those series that hold every text. */
const twoBut = (texts: readonly string[], values: string | null): Series => changed(two, texts, values);
const consoleBut = (texts: readonly string[], values: string): Series =>
  changed(withConsole, [...texts, 'console'], values);

/** Alerts, the series in which they fire, and the minutes until then. The instance at fault is b. */
const FAULTS: readonly (readonly [firing: string, series: Series, minutes: number])[] = [
  ['ApiDown', changed(changed(two, ['up{', '"b"'], always(0)), ['compliance_replicas'], always(1)), 5],
  ['ApiAbsent', aConsole, 5],
  ['ApiAbsent ApiDown ApiDown', twoBut(['up{'], always(0)), 5],
  ['ApiNotReady', twoBut(['compliance_ready'], always(0)), 5],
  // Prometheus no longer finds it by DNS.
  ['InstanceMissing', Object.assign({}, anInstance('a', 2)) as Series, 15],
  ['InstanceMissing', twoBut(['compliance_ready', '"b"'], always(0)), 15],
  ['InstanceRestarts', twoBut(['process_start', '"b"'], growing(0.2)), 35],
  ['ConsoleDown', consoleBut(['up{'], always(0)), 5],
  ['ConsoleNotReady', consoleBut(['compliance_ready'], always(0)), 5],
  ['InstanceRestarts', consoleBut(['process_start'], growing(0.2)), 35],
  ['ApiErrors', twoBut(['"503"', '"b"'], growing(30)), 12],
  // Its first failure, so the series begins with the fault.
  ['ApiErrors', twoBut(['"503"', '"b"'], then(10, '_', growing(30))), 22],
  ['ApiSlow', twoBut(['le="0.1"', '"b"'], growing(500)), 20],
  ['DatabasePoolExhausted', twoBut(['timeouts', '"b"'], growing(20)), 8],
  ['DatabasePoolWaiting', twoBut(['waiting', '"b"'], always(3)), 8],
  ['ReplicaUnused', twoBut(['replica_used', '"b"'], then(20, 1, always(0))), 35],
  ['ReplicaLags', twoBut(['replica_lag', '"b"'], always(4)), 12],
  ['RedisAway RedisAway', twoBut(['"away"'], always(1)), 3],
  ['RedisFlapping', twoBut(['opened', '"b"'], growing(0.5)), 20],
  ['AuditAltered', twoBut(['altered', '"b"'], then(10, 0, growing(12))), 11],
  ['AuditSealLag', twoBut(['seal_lag', '"b"'], growing(60)), 10],
  ['AuditSealerStopped', twoBut(['last_look'], always(0)), 10],
  ['AuditGrows', twoBut(['audit_bytes'], growing(1e6)), 75],
  ['ImportStale', twoBut(['import_age'], growing(60, 89_000)), 30],
  ['TrustedKeysOld', twoBut(['"fetched"'], growing(60, 86_000)), 20],
  ['GivenKeysOld', twoBut(['"given"'], growing(60, 90 * 86_400)), 10],
  ['WritesPileUp', twoBut(['in_progress'], growing(6)), 25],
  ['StreamsFail', twoBut(['streams', '"b"'], then(10, 0, always(1))), 11],
  // One client with an old secret, as often as the limit of token requests lets it.
  ['SecretsGuessed', twoBut(['invalid_client', '"b"'], growing(5)), 20],
  ['EventLoopLate', twoBut(['eventloop', '"b"'], always(0.6)), 12],
  ['MemoryHigh', twoBut(['resident', '"b"'], always(4.8e8)), 20],
  ['FilesNearLimit', twoBut(['open_fds', '"b"'], always(17_000)), 8],
  ['LogLinesDropped', twoBut(['dropped', '"b"'], then(10, 0, always(9))), 11],
  ['BackgroundWorkFails', twoBut(['background', '"b"'], always(0)), 25],
  ['VersionsMixed', { ...twoBut(['build_info', '"b"'], null), ...onlyVersion('b', '2') }, 65],
];

function onlyVersion(name: string, version: string): Series {
  return { [`compliance_build_info{instance="${name}",version="${version}"}`]: always(1) };
}

/** An instance whose counters begin again after ten minutes, while Prometheus misses it for two. */
function restarted(): Series {
  const again = Object.entries(anInstance('b')).map(([name, values]) => {
    const [, before = ''] = /^([^x]+)x/.exec(values) ?? [];
    const isGauge = /^(up|compliance_(ready|replicas)|process_start)/.test(name);
    return [name, isGauge && !name.startsWith('process') ? `${before}x10 0x1 ${values}` : `${before}x10 _x1 ${values}`];
  });
  return { ...anInstance('a'), ...(Object.fromEntries(again) as Series) };
}

describe('The alerts', () => {
  it('fire in the situation that they tell of, and no other one does', () => {
    const situations = FAULTS.map(([names, series, minutes]) => ({
      series,
      minutes: [minutes],
      firing: names.split(' '),
    }));
    expect(differences(situations)).toBe('');
  });

  it('are all shown to fire', () => {
    const names = at(readYaml()['docker/prometheus/alerts.yml']?.[0], 'groups.*.rules.*.alert');
    expect([...new Set(FAULTS.flatMap(([shown]) => shown.split(' ')))].sort()).toEqual(names.map(String).sort());
  });

  it('are silent in other situations', () => {
    const quiet: readonly Series[] = [
      withConsole,
      fleet('abcdefghij'),
      // More instances than REPLICAS, while a roll-out replaces them.
      { ...two, ...anInstance('c') },
      // Nobody sends a request.
      twoBut(['http_'], always(7)),
      // No request came since the start, and there is neither a Redis nor a standby, nor an import, nor a trusted issuer.
      ['http_', 'replica_', 'import_', 'trusted_keys'].reduce((series, text) => changed(series, [text], null), two),
      restarted(),
      // The other one cannot look, and knows only what it knew a day ago.
      changed(twoBut(['import_age', '"b"'], growing(60, 99_000)), ['"fetched"', '"b"'], growing(60, 99_000)),
      twoBut(['last_look', '"b"'], always(0)),
      // Two failures in an hour, of twenty requests a minute.
      changed(twoBut(['"503"', '"b"'], '0x10 1x50 2x60'), ['"200"'], growing(20)),
      // Postgres was slow to accept connections, once.
      twoBut(['timeouts', '"b"'], then(10, 0, always(20))),
      // Somebody tries a wrong secret for a minute.
      twoBut(['invalid_client', '"b"'], '0x10 15x100'),
    ];
    const minutes = [8, 12, 18, 25, 40, 65, 100];
    expect(differences(quiet.map((series) => ({ series: { ...aConsole, ...series }, minutes, firing: [] })))).toBe('');
  });
});
