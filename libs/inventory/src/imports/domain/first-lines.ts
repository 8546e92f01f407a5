const TABLES = 256;
const FIRST_CAPACITY = 256;
const MOST_FULL = 0.75;
const EMPTY = 0;
/** The content of a bad line, which no other line repeats. */
const NO_CONTENT = 0;

/** The line that first named an id. `same`: it says the same. */
export interface FirstLine {
  readonly place: number;
  readonly same: boolean;
}

/**
 * Finds the line that first named an external id. Stores a 64-bit hash for each id, so ten million ids take
 * 0.4 GB instead of 1.4 GB. In one of 370,000 imports of that size two ids share a hash; the second is then refused.
 * Contents have hashes of 32 bits: one in four billion repeats with other values is taken for one with the same.
 */
export class FirstLines {
  /** Many small tables, because a table needs twice its memory while it grows. */
  private readonly tables = Array.from({ length: TABLES }, () => new Table());

  /** Returns the line that first named this id. Returns null for a new id and stores its line. `content` is a hash, and null for a bad line. */
  take(externalId: string, place: number, content: number | null): FirstLine | null {
    const [high, low] = hashOf(externalId);
    return (this.tables[low % TABLES] as Table).take(high, low, place, content ?? NO_CONTENT);
  }
}

/** Hashes and line numbers in a table with open addressing. A line number is never zero. */
class Table {
  private size = 0;
  private hashes = new Uint32Array(2 * FIRST_CAPACITY);
  private places = new Float64Array(FIRST_CAPACITY);
  private contents = new Uint32Array(FIRST_CAPACITY);

  take(high: number, low: number, place: number, content: number): FirstLine | null {
    const slot = this.slotOf(high, low);
    const first = this.places[slot] as number;
    if (first !== EMPTY) return { place: first, same: content !== NO_CONTENT && this.contents[slot] === content };
    this.put(slot, high, low, place, content);
    this.size += 1;
    if (this.size > this.places.length * MOST_FULL) this.grow();
    return null;
  }

  /** Returns the slot of this hash, or the free slot for it. */
  private slotOf(high: number, low: number): number {
    const capacity = this.places.length;
    for (let slot = high % capacity; ; slot = slot + 1 === capacity ? 0 : slot + 1) {
      if (this.places[slot] === EMPTY) return slot;
      if (this.hashes[2 * slot] === high && this.hashes[2 * slot + 1] === low) return slot;
    }
  }

  private put(slot: number, high: number, low: number, place: number, content: number): void {
    this.hashes[2 * slot] = high;
    this.hashes[2 * slot + 1] = low;
    this.places[slot] = place;
    this.contents[slot] = content;
  }

  private grow(): void {
    const { hashes, places, contents } = this;
    this.hashes = new Uint32Array(2 * hashes.length);
    this.places = new Float64Array(2 * places.length);
    this.contents = new Uint32Array(2 * contents.length);
    for (let slot = 0; slot < places.length; slot += 1) {
      const place = places[slot] as number;
      const [high, low] = [hashes[2 * slot] as number, hashes[2 * slot + 1] as number];
      if (place !== EMPTY) this.put(this.slotOf(high, low), high, low, place, contents[slot] as number);
    }
  }
}

/** Two 32-bit hashes with the multipliers and final steps of MurmurHash3. */
function hashOf(text: string): readonly [number, number] {
  let one = 0x9e3779b9;
  let other = 0x7f4a7c15;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x85ebca6b);
    one ^= one >>> 15;
    other = Math.imul(other ^ unit, 0xc2b2ae35);
    other ^= other >>> 13;
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b);
  other = Math.imul(other ^ (other >>> 16), 0xc2b2ae35);
  return [mixed(one ^ (other >>> 15)), mixed(other ^ (one >>> 15))];
}

function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (half ^ (half >>> 16)) >>> 0;
}
