import canonicalize from 'canonicalize';
import { AuditEvidenceSystem, writeCanonical } from './audit-evidence.system';

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string): number => parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('Ids of audit events', () => {
  const evidence = new AuditEvidenceSystem(Buffer.alloc(32));
  const NOW = Date.UTC(2026, 0, 31);

  it('grow with every event, within a millisecond and when the clock goes back', () => {
    const times = [...Array<number>(5_000).fill(NOW), NOW - 60_000, NOW - 1, NOW, NOW + 1, NOW + 1, NOW + 2];
    const ids = times.map((time) => evidence.newEventId(time));
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids.every((id) => VERSION_7.test(id))).toBe(true);
    expect(ids.slice(-6).map(timeOf)).toEqual([NOW, NOW, NOW, NOW + 1, NOW + 1, NOW + 2]);
  });

  it('differ between instances', () => {
    const other = new AuditEvidenceSystem(Buffer.alloc(32));
    expect(evidence.newEventId(NOW + 9)).not.toBe(other.newEventId(NOW + 9));
  });
});

describe('The form that a code covers', () => {
  it('is the canonical JSON of the content, whatever its members are', () => {
    const value = {
      '€': [1e21, -0, 0.1, [], {}, [[]], null, true],
      '\r': { b: undefined, a: { old: [{ value: '\u0001"\ud83d\ude00', key: 'k' }], new: [] } },
      '\ud83d\ude00': 'text',
      10: undefined,
      9: ['a', 'b'],
      __proto__: null,
    };
    const pieces: string[] = [];
    writeCanonical(value, (piece) => pieces.push(piece));
    expect(pieces.join('')).toBe(canonicalize(value));
  });
});
