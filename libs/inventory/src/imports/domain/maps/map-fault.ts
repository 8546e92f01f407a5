/** A map that cannot be used. Each fault names file, line and member. */
export class MapInvalid extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join(' '));
    this.name = 'MapInvalid';
  }
}
