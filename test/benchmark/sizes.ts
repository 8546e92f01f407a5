import type { DemoSize } from '../../libs/inventory/src/imports/domain/demo-inventory';

/** The size of a run. */
export interface Sizes {
  readonly name: 'smoke' | 'reduced' | 'full';
  /** Rounds of each measurement. In each round the variants take turns. */
  readonly rounds: number;
  /** Length of one variant's turn under load. */
  readonly secondsPerTurn: number;
  /** Uncounted requests of each kind at the beginning: new code is slow, and for a varying time. */
  readonly warmUpRequests: number;
  /** Workspaces whose pages are compared, smallest first. */
  readonly workspaces: readonly DemoSize[];
  /** The workspace for pages over HTTP. */
  readonly served: DemoSize;
  readonly importedRecords: number;
  /** Rounds of what takes minutes: imports, and streams of the past. */
  readonly longRounds: number;
  /** Assets for the comparison with other programs' lists. */
  readonly peerAssets: number;
  /** Workspaces with a few assets each. */
  readonly smallWorkspaces: number;
  readonly boots: number;
}

export const SIZES: Readonly<Record<Sizes['name'], Sizes>> = {
  smoke: {
    name: 'smoke',
    rounds: 1,
    secondsPerTurn: 1,
    warmUpRequests: 100,
    workspaces: ['M'],
    served: 'M',
    importedRecords: 10_000,
    longRounds: 1,
    peerAssets: 1_000,
    smallWorkspaces: 500,
    boots: 1,
  },
  reduced: {
    name: 'reduced',
    rounds: 3,
    secondsPerTurn: 1,
    warmUpRequests: 30_000,
    workspaces: ['M', 'L'],
    served: 'L',
    importedRecords: 250_000,
    longRounds: 1,
    peerAssets: 100_000,
    smallWorkspaces: 10_000,
    boots: 3,
  },
  full: {
    name: 'full',
    rounds: 5,
    secondsPerTurn: 3,
    warmUpRequests: 30_000,
    workspaces: ['M', 'L', 'XL'],
    served: 'L',
    importedRecords: 1_000_000,
    longRounds: 3,
    peerAssets: 1_000_000,
    smallWorkspaces: 100_000,
    boots: 7,
  },
};
