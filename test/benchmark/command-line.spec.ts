import { CATALOGUE, USUAL_BENCHMARKS } from './catalogue';
import { readCommandLine } from './command-line';
import { TARGETS } from './targets';

const benchmarksOf = (...words: string[]): readonly string[] => {
  const command = readCommandLine(words);
  if ('say' in command) throw new Error(command.say);
  return command.benchmarks;
};

describe('The command line', () => {
  it.each([[[]], [['--full']], [['--smoke', '--check']]])('installs no other program unless asked to: %j', (words) => {
    expect(benchmarksOf(...words)).toEqual(USUAL_BENCHMARKS);
    expect(USUAL_BENCHMARKS).not.toContain('peers');
  });

  it('runs what is named, and nothing else', () => {
    for (const name of Object.keys(CATALOGUE)) expect(benchmarksOf(name)).toEqual([name]);
    expect(benchmarksOf('peers', 'auth', '--full')).toEqual(['peers', 'auth']);
    expect(readCommandLine(['unknown'])).toMatchObject({ status: 2 });
  });

  it.each([
    ['--full', '--smoke'],
    ['--smoke', '--report'],
    ['--render', '--check'],
    ['--render', '--report'],
    ['--render', 'paths'],
    ['--rounds', '0'],
    ['--rounds', '2.5'],
    ['--rounds', 'many'],
    ['--unknown'],
  ])('refuses what would record or promise what was not measured: %s %s', (...words) => {
    expect(readCommandLine(words)).toMatchObject({ status: 2 });
  });

  it('can meet every target without naming a benchmark', () => {
    for (const { benchmark } of Object.values(TARGETS)) expect(USUAL_BENCHMARKS).toContain(benchmark);
  });

  it('tells of every benchmark', () => {
    const help = readCommandLine(['--help']);
    const lines = 'say' in help ? help.say.split('\n').map((line) => line.trim().replace(/ {2,}/, ': ')) : [];
    expect(lines).toEqual(expect.arrayContaining(Object.entries(CATALOGUE).map(([name, what]) => `${name}: ${what}`)));
  });
});
