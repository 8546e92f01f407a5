import type { Cluster } from './cluster';
import type { Sizes } from './sizes';

/** What every benchmark is given. */
export interface Setting {
  readonly cluster: Cluster;
  readonly sizes: Sizes;
  readonly say: (line: string) => void;
}
