/** Counts turns of the event loop until `end` is called: those that other work of the process gets. */
export function countTurns(): { readonly count: number; readonly end: () => void } {
  const turns = { count: 0, end: () => clearImmediate(next) };
  let next = setImmediate(function take() {
    turns.count += 1;
    next = setImmediate(take);
  });
  return turns;
}
