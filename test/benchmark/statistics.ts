export function median(values: readonly number[]): number {
  const sorted = [...values].sort((first, second) => first - second);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Prints one target with its measured ratio, and gives 1 when it is missed. */
export function judge(
  what: string,
  ratio: number,
  bound: { readonly atMost: number } | { readonly atLeast: number },
): number {
  const met = 'atMost' in bound ? ratio <= bound.atMost : ratio >= bound.atLeast;
  const target = 'atMost' in bound ? `at most ${bound.atMost}` : `at least ${bound.atLeast}`;
  console.log(`${met ? 'met   ' : 'MISSED'}  ${what}: ${ratio.toFixed(2)} (${target})`);
  return met ? 0 : 1;
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** The median, and the least and the most. */
export const spread = (values: readonly number[]): string =>
  `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
