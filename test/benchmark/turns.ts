/**
 * Measures variants in turn, so that other activity of the machine affects them equally. Returns one value per round,
 * by variant.
 */
export async function takeTurns<Variant extends string, Value>(
  variants: readonly Variant[],
  {
    rounds,
    turns,
    warmUpRounds = 1,
  }: { readonly rounds: number; readonly turns: number; readonly warmUpRounds?: number },
  measure: (variant: Variant) => Promise<Value>,
  /** Combines the turns of a round into one value. */
  sumUp: (turns: readonly Value[]) => Value,
): Promise<Record<Variant, Value[]>> {
  const values = Object.fromEntries(variants.map((variant) => [variant, []])) as unknown as Record<Variant, Value[]>;
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const taken = new Map<Variant, Value[]>(variants.map((variant) => [variant, []]));
    for (let turn = 0; turn < (round < 0 ? 1 : turns); turn += 1) {
      for (const variant of variants) taken.get(variant)?.push(await measure(variant));
    }
    if (round >= 0) for (const variant of variants) values[variant].push(sumUp(taken.get(variant) ?? []));
  }
  return values;
}
