import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { demoInventory } from '../../../libs/inventory/src/imports/domain/demo-inventory';

/** In the demo every 25th employee has left. With multiples of 25 here, owners stay the same. */
const EMPLOYEES_REPEAT_EVERY = 25;
const SHARE_OF_EMPLOYEES = 0.08;

/** Generates records of the demo with the same share of employees, who own everything. */
export function* inventoryOf(records: number): Generator<Record<string, unknown>> {
  const wanted = Math.round((records * SHARE_OF_EMPLOYEES) / EMPLOYEES_REPEAT_EVERY) * EMPLOYEES_REPEAT_EVERY;
  let [employees, others] = [0, 0];
  for (const record of demoInventory(records > 1_000_000 ? 'XL' : 'L')) {
    if (employees + others === records) return;
    if (record['categoryKey'] === 'EMPLOYEE') {
      if (employees < wanted) yield record;
      employees = Math.min(wanted, employees + 1);
    } else {
      others += 1;
      const { owner } = record;
      yield typeof owner === 'string' ? { ...record, owner: ownerWithin(owner, wanted) } : record;
    }
  }
}

function ownerWithin(owner: string, employees: number): string {
  return `hr-${((Number(owner.slice('hr-'.length)) - 1) % employees) + 1}`;
}

/** Writes such an inventory as NDJSON, one record per line. */
export async function writeInventory(path: string, records: number): Promise<void> {
  await writeText(path, linesOf(inventoryOf(records)));
}

function* linesOf(records: Iterable<object>): Generator<string> {
  for (const record of records) yield `${JSON.stringify(record)}\n`;
}

/** Writes a text of any length, in pieces of some size. */
export async function writeText(path: string, parts: Iterable<string>): Promise<void> {
  const file = createWriteStream(path);
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length < 1_000_000) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'finish');
}
