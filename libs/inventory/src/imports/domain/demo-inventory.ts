import { DAY_MS } from '#libs/kernel';
import { CLASSIFICATIONS } from '../../assets/domain/asset';
import {
  CLOUD_RESOURCES,
  CUSTOM,
  ENVIRONMENTS,
  FAMILY_NAMES,
  GIVEN_NAMES,
  INFORMATION,
  OPERATING_SYSTEMS,
  REGIONS,
  TEAMS,
} from './demo-words';

export const DEMO_SIZES = { S: 500, M: 10_000, L: 1_000_000, XL: 10_000_000 } as const;
export type DemoSize = keyof typeof DEMO_SIZES;

/** The import source of what no tool has, and of all assets of the large sizes. */
export const DEMO_SOURCE = 'demo';

/** The customer's own keys. Platform keys come with the records. */
export const DEMO_TAG_KEYS: readonly { readonly key: string; readonly value: string | null }[] = [
  { key: 'critical', value: 'tier-1' },
  { key: 'env', value: 'production' },
  { key: 'pii', value: 'yes' },
  { key: 'sox', value: null },
  { key: 'zuständig', value: 'Süd' },
];

/** All times lie before this moment, so the inventory is always the same. */
const NOW = Date.UTC(2026, 10, 1);
/** Days of the made-up past. Everything was there when it began. */
export const DEMO_PAST_DAYS = 90;

/** Pseudo-random numbers from 0 to 1, reproducible from the seed (mixing steps of splitmix32). */
class Dice {
  constructor(private state: number) {}

  roll(): number {
    this.state = (this.state + 0x9e3779b9) | 0;
    let mixed = this.state ^ (this.state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.roll() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.roll() * limit);
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** Returns true, false, or null for unknown. */
  maybe(probability: number): boolean | null {
    return this.chance(0.15) ? null : this.chance(probability);
  }
}

/** The first records alternate, so that the first page of a list shows every category: so many employees, and assets after each. */
const MIXED = { employees: 20, assetsEach: 4 };

/**
 * Generates the records of a realistic company, always the same for one size. Employees come early. The few that follow
 * their assets show how an import defers records.
 */
export function* demoInventory(size: DemoSize): Generator<DemoRecord> {
  const total = DEMO_SIZES[size];
  const employees = Math.max(MIXED.employees, Math.round(total * 0.08));
  for (const index of demoOrder(total, employees)) {
    // One seed for each record, so that a record does not depend on earlier ones.
    const dice = new Dice(Math.imul(index + 1, 2_654_435_761));
    yield index < employees
      ? employee(index, dice)
      : { ...assetOf(index, dice), ...governance(index, dice, employees) };
  }
}

export type DemoRecord = Readonly<Record<string, unknown>>;

function* demoOrder(total: number, employees: number): Generator<number> {
  let asset = employees;
  for (let index = 0; index < employees; index += 1) {
    yield index;
    if (index >= MIXED.employees) continue;
    for (let count = 0; count < MIXED.assetsEach; count += 1) {
      yield asset;
      asset += 1;
    }
  }
  for (; asset < total; asset += 1) yield asset;
}

function employee(index: number, dice: Dice): Record<string, unknown> {
  // Each of the first has a name, and so an address, of their own. Later addresses end in a number.
  const given = GIVEN_NAMES[index] ?? dice.of(GIVEN_NAMES);
  const family = dice.of(FAMILY_NAMES);
  const address = `${given}.${family}`
    .normalize('NFD')
    .replace(/[^a-zA-Z.]/g, '')
    .toLowerCase();
  return {
    categoryKey: 'EMPLOYEE',
    externalId: `hr-${index + 1}`,
    name: `${given} ${family}`,
    email: `${address}${index < GIVEN_NAMES.length ? '' : index}@example.com`,
    createdAt: daysAgo(DEMO_PAST_DAYS + dice.below(2_000)),
    visibility: hasLeft(index) ? 'HIDDEN' : undefined,
  };
}

function governance(index: number, dice: Dice, employees: number): Record<string, unknown> {
  const classification = dice.of([...CLASSIFICATIONS, undefined]);
  const candidate = dice.below(employees);
  return {
    classification,
    owner: dice.chance(0.7) ? `hr-${(hasLeft(candidate) ? candidate - 1 : candidate) + 1}` : undefined,
    description: dice.chance(0.6) ? `Kept by ${dice.of(TEAMS)}; reviewed in ${2023 + (index % 4)}.` : undefined,
    visibility: dice.chance(0.03) ? dice.of(['HIDDEN', 'DELETED']) : undefined,
    createdAt: daysAgo(DEMO_PAST_DAYS + dice.below(1_500)),
    lastCheckedAt: dice.chance(0.8) ? daysAgo(dice.roll() * 30) : undefined,
  };
}

/** Every 25th employee has left and owns nothing. */
function hasLeft(index: number): boolean {
  return index % 25 === 24;
}

function assetOf(index: number, dice: Dice): Record<string, unknown> {
  const kind = dice.roll();
  if (kind < 0.6) return cloudResource(index, dice);
  if (kind < 0.78) return computer(index, dice);
  return kind < 0.89 ? information(index, dice) : custom(index, dice);
}

function cloudResource(index: number, dice: Dice): Record<string, unknown> {
  const { type, service, noun } = dice.of(CLOUD_RESOURCES);
  const team = dice.of(TEAMS);
  const environment = dice.of(ENVIRONMENTS);
  const accountId = String(100_000_000_000 + dice.below(40) * 7_919);
  const region = dice.of(REGIONS);
  const name = `${team}-${environment}-${noun}-${index}`;
  return {
    categoryKey: 'CLOUD',
    type,
    externalId: `arn:aws:${service}:${region}:${accountId}:${name}`,
    name,
    accountId,
    region,
    tags: [
      ...(dice.chance(0.5) ? [{ key: 'aws:stack', value: `${team}-${environment}` }] : []),
      ...(dice.chance(0.2) ? [{ key: 'aws:cost-center', value: String(1_000 + dice.below(50)) }] : []),
      ...customerTags(dice),
    ],
  };
}

function computer(index: number, dice: Dice): Record<string, unknown> {
  const [operatingSystem, versions] = dice.of(OPERATING_SYSTEMS);
  const monitored = dice.chance(0.75);
  const serial = `C${(index * 2_654_435_761).toString(36).toUpperCase().slice(0, 9)}${index.toString(36).toUpperCase()}`;
  return {
    categoryKey: 'COMPUTER',
    externalId: serial,
    name: `${dice.of(GIVEN_NAMES).toLowerCase()}-${operatingSystem.slice(0, 3).toLowerCase()}-${index}`,
    serialNumber: serial,
    operatingSystem,
    osVersion: dice.of(versions),
    managed: dice.maybe(0.5),
    compliance: monitored
      ? {
          agentVersion: dice.of(['2.3.1', '2.4.0', '2.4.2']),
          antivirusInstalled: dice.maybe(0.9),
          diskEncryptionEnabled: dice.maybe(0.92),
          passwordManagerInstalled: dice.maybe(0.7),
          screenLockEnabled: dice.maybe(0.95),
        }
      : undefined,
    tags: dice.chance(0.3) ? [{ key: 'mdm:group', value: dice.of(TEAMS) }] : [],
  };
}

function information(index: number, dice: Dice): Record<string, unknown> {
  const name = dice.of(INFORMATION);
  return {
    categoryKey: 'INFORMATION',
    externalId: `ds-${index}`,
    name: `${name} (${dice.of(TEAMS)})`,
    ...dataStored(dice),
    tags: customerTags(dice),
  };
}

function custom(index: number, dice: Dice): Record<string, unknown> {
  return {
    categoryKey: 'CUSTOM',
    externalId: `c-${index}`,
    name: `${dice.of(CUSTOM)} ${index}`,
    ...(dice.chance(0.2) ? dataStored(dice) : {}),
  };
}

function dataStored(dice: Dice): Record<string, unknown> {
  const containsUserData = dice.maybe(0.5);
  return {
    dataStored: {
      containsPatientData: dice.maybe(0.2),
      containsUserData,
      userDataInfo: containsUserData ? 'Names, e-mail addresses and billing details.' : undefined,
    },
  };
}

function customerTags(dice: Dice): { key: string }[] {
  return dice.chance(0.35) ? [{ key: dice.of(DEMO_TAG_KEYS).key }] : [];
}

function daysAgo(days: number): string {
  return new Date(NOW - days * DAY_MS).toISOString();
}
