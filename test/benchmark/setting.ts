import type { Cluster } from './cluster';
import type { Sizes } from './sizes';

/** Input of every benchmark. */
export interface Setting {
  readonly cluster: Cluster;
  readonly sizes: Sizes;
  readonly say: (line: string) => void;
}
