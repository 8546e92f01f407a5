/** Returns the places of employees who own themselves, or each other in a circle. `owners`: the place of each one's owner. */
export function ownerCircles(owners: ReadonlyMap<number, number>): number[] {
  const circles: number[] = [];
  const walkOf = new Map<number, number>();
  for (const start of owners.keys()) {
    let place: number | undefined = start;
    while (place !== undefined && !walkOf.has(place)) {
      walkOf.set(place, start);
      place = owners.get(place);
    }
    // Only this walk itself can close a circle that no earlier walk found.
    if (place === undefined || walkOf.get(place) !== start) continue;
    const first = place;
    do {
      circles.push(place);
      place = owners.get(place) ?? first;
    } while (place !== first);
  }
  return circles;
}
