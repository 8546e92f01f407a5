import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings } from '../findings';
import type { Setting } from '../setting';
import { median } from '../statistics';
import { takeTurns } from '../turns';
import { Writer } from './writer';

const BULK = 100;
const TURNS = 4;
const UPDATES_PER_TURN = 100;
const BULKS_PER_TURN = 10;

/** A value for each round, by variant. */
export type Values<Variant extends string> = Readonly<Record<Variant, readonly number[]>>;

/** Times updates and bulks of 100 in milliseconds, on databases that take turns. */
export async function compareUpdates<Variant extends string>(
  setting: Setting,
  databases: Readonly<Record<Variant, BenchmarkDatabase>>,
): Promise<{ readonly updates: Values<Variant>; readonly bulks: Values<Variant> }> {
  const variants = Object.keys(databases) as Variant[];
  const writers = {} as Record<Variant, Writer>;
  // Before the first API starts: it would close the connection of its client during the next load.
  for (const variant of variants) await databases[variant].workspace(setting.sizes.served);
  for (const variant of variants) writers[variant] = await Writer.start(setting, databases[variant]);
  const inTurn = (count: number, times: number): Promise<Values<Variant>> =>
    takeTurns(
      variants,
      { rounds: setting.sizes.rounds, turns: TURNS },
      (variant) => writers[variant].write(count, times),
      median,
    );
  const updates = await inTurn(1, UPDATES_PER_TURN);
  const bulks = await inTurn(BULK, BULKS_PER_TURN);
  for (const variant of variants) await writers[variant].stop();
  return { updates, bulks };
}

export const timesOf = <Variant extends string>(
  subject: string,
  unit: string,
  values: Values<Variant>,
): Findings['measurements'] =>
  (Object.keys(values) as Variant[]).map((variant) => ({
    ...{ subject, variant, figure: 'time', unit },
    values: values[variant],
  }));
