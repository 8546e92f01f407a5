import type { WorkspaceId } from '#libs/kernel';
import type { DataSource } from 'typeorm';
import { DEMO_SIZES, demoInventory } from '../../libs/inventory/src/imports/domain/demo-inventory';
import { importsOn } from './imports';

/** Assets between two progress lines without a terminal. Loading takes minutes. */
const STEP_SAID = 1_000_000;

/** Imports demo assets into a workspace. */
export async function loadDemoAssets(
  operator: DataSource,
  workspace: WorkspaceId,
  assets: number,
  say: (line: string) => void = console.log,
): Promise<void> {
  const imports = importsOn(operator);
  const options = { source: 'demo', files: [], dryRun: false, missing: 'keep', createTagKeys: 'platform' } as const;
  const size = assets > DEMO_SIZES.L ? 'XL' : assets > DEMO_SIZES.M ? 'L' : 'M';
  const lines = function* () {
    let line = 0;
    for (const value of demoInventory(size)) {
      if (line === assets) return;
      yield { fileIndex: 0, line: (line += 1), value };
    }
  };
  const since = Date.now();
  let nextSaid = STEP_SAID;
  const onProgress = ({ read }: { readonly read: number }): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r  ${read} of ${assets} assets loaded`);
    else if (read >= nextSaid) {
      say(`  ${read} of ${assets} assets loaded`);
      nextSaid += STEP_SAID;
    }
  };
  const report = await imports.runLines(workspace, { ...options, onProgress }, lines());
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (report.failed > 0) throw new Error(JSON.stringify(report.errors[0]));
  say(`  ${assets} assets loaded in ${Math.round((Date.now() - since) / 1000)} s`);
}
