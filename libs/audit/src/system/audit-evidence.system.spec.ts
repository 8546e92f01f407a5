import { AuditEvidenceSystem } from './audit-evidence.system';

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
