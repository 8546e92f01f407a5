import 'reflect-metadata';
import { ProcessCleanup } from '../support/cleanup.cjs';
import { readCommandLine } from './command-line';
import { runBenchmarks } from './run';
import { verdictsOf } from './recording';
import { renderReport, writeReport } from './report/report-files';
import { formatVerdicts } from './targets';

async function main(): Promise<number> {
  const command = readCommandLine(process.argv.slice(2));
  if ('say' in command) {
    console.log(command.say);
    return command.status;
  }
  if (command.render) {
    renderReport();
    return 0;
  }
  new ProcessCleanup();
  const recording = await runBenchmarks(
    command.benchmarks,
    command.sizes,
    (line) => console.log(line),
    (soFar) => command.report && writeReport(soFar),
  );
  const verdicts = verdictsOf(recording, 'run');
  if (verdicts.length === 0) return 0;
  console.log(`\n${formatVerdicts(verdicts)}`);
  if (command.sizes.name !== 'full') console.log('Measured in a smaller size than the targets mean; --full has that.');
  return command.check && verdicts.some(({ met }) => !met) ? 1 : 0;
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
