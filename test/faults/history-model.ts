/** What the test knows of one asset at one time. */
export interface Known {
  readonly id: string;
  readonly categoryKey: 'EMPLOYEE' | 'COMPUTER' | 'CUSTOM';
  readonly isVisible: boolean;
  readonly name: string;
  readonly email: string | null;
  readonly checks: readonly (boolean | null)[];
  readonly isMonitored: boolean;
  readonly description: string | null;
  readonly classification: string;
  readonly ownerId: string | null;
  readonly tags: readonly string[];
  /** When the last import that made a state of it ran, which is its check-in. */
  readonly checkedAt: string;
  /** The response of the update that made this state, if the client had one. */
  readonly response: string | null;
}

export type Imported = Pick<Known, 'id' | 'categoryKey' | 'isVisible' | 'name' | 'email' | 'checks' | 'isMonitored'>;
export type Patch = Partial<Pick<Known, 'description' | 'classification' | 'ownerId' | 'tags'>>;

/** An act of a writer that makes one change set, or several where it says so. */
export type Act =
  | { readonly kind: 'patch'; readonly ids: readonly string[]; readonly patch: Patch; readonly response: string | null }
  | { readonly kind: 'import'; readonly records: readonly Imported[]; readonly checkedAt: string }
  /** Gone from every instant before. It makes no change set. */
  | { readonly kind: 'purge'; readonly ids: readonly string[] }
  /** One batch of a deletion. An update may give an asset the key while it looks, so it says which it found. */
  | { readonly kind: 'untag'; readonly key: string; readonly ids: readonly string[] };

export interface Commit {
  readonly changedAt: number;
  readonly act: Act;
}

export interface Entry {
  readonly from: number;
  readonly state: Known;
}

const NEW = { description: null, classification: 'UNKNOWN', ownerId: null, tags: [], response: null } as const;

/** Replays what writers recorded, in the order of the change sets. Knows nothing of former states in the database. */
export class HistoryModel {
  /** The states of each asset that is not purged, oldest first. */
  readonly timelines = new Map<string, Entry[]>();

  constructor(commits: readonly Commit[]) {
    for (const { act, changedAt: from } of commits) {
      if (act.kind === 'purge') for (const id of act.ids) this.timelines.delete(id);
      else for (const state of this.changedBy(act)) this.add({ from, state });
    }
  }

  /** The visible assets at the instant. */
  at(instant: number): Map<string, Entry> {
    const found = new Map<string, Entry>();
    for (const [id, entries] of this.timelines) {
      const entry = entries.findLast(({ from }) => from <= instant);
      if (entry?.state.isVisible) found.set(id, entry);
    }
    return found;
  }

  private changedBy(act: Exclude<Act, { kind: 'purge' }>): Known[] {
    if (act.kind === 'import') {
      return act.records.flatMap((record) => {
        const before = this.now(record.id);
        const after: Known = { ...NEW, ...before, ...record, checkedAt: act.checkedAt, response: null };
        return before && JSON.stringify(importedOf(before)) === JSON.stringify(importedOf(after)) ? [] : [after];
      });
    }
    if (act.kind === 'patch') {
      const visible = act.ids.flatMap((id) => this.now(id) ?? []).filter(({ isVisible }) => isVisible);
      return visible.map((before) => ({ ...before, ...act.patch, response: act.response }));
    }
    const without = (before: Known): Known => {
      return { ...before, tags: before.tags.filter((key) => key !== act.key), response: null };
    };
    // Hidden assets lose the key without a change.
    for (const [id, entries] of this.timelines) {
      const { from, state } = entries.at(-1) as Entry;
      if (!state.isVisible) this.timelines.set(id, [...entries.slice(0, -1), { from, state: without(state) }]);
    }
    return act.ids.flatMap((id) => this.now(id) ?? []).map(without);
  }

  private now(id: string): Known | undefined {
    return this.timelines.get(id)?.at(-1)?.state;
  }

  private add(entry: Entry): void {
    const entries = this.timelines.get(entry.state.id);
    if (entries) entries.push(entry);
    else this.timelines.set(entry.state.id, [entry]);
  }
}

export const importedOf = ({ id, categoryKey, isVisible, name, email, checks, isMonitored }: Imported): Imported => ({
  ...{ id, categoryKey, isVisible, name, email, checks, isMonitored },
});
