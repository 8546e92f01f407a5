import { runProgram } from './program';
import { ReloadedApi, type Sources } from './reloaded-api';

/** The program of `npm run dev`. The options are for Node, such as `--inspect`. */
export function develop(sources: Sources, nodeOptions: readonly string[]): void {
  runProgram(() => new ReloadedApi(sources, nodeOptions));
}
