import { CATALOGUE, USUAL_BENCHMARKS } from './catalogue';
import { readCommandLine } from './command-line';
import { TARGETS } from './targets';

const benchmarksOf = (...words: string[]): readonly string[] => {
  const command = readCommandLine(words);
  if ('say' in command) throw new Error(command.say);
  return command.benchmarks;
};

describe('npm run bench', () => {
  it.each([[[]], [['--full']], [['--smoke', '--check']]])('installs other programs only when asked to: %j', (words) => {
    expect(benchmarksOf(...words)).toEqual(USUAL_BENCHMARKS);
    expect(USUAL_BENCHMARKS).not.toContain('peers');
  });

  it('runs only the named benchmarks', () => {
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
  ])('refuses to record or to judge what it does not measure: %s %s', (...words) => {
    expect(readCommandLine(words)).toMatchObject({ status: 2 });
  });

  it('can check every target without naming a benchmark', () => {
    for (const { benchmark } of Object.values(TARGETS)) expect(USUAL_BENCHMARKS).toContain(benchmark);
  });

  it('lists every benchmark in its help', () => {
    const help = readCommandLine(['--help']);
    const lines = 'say' in help ? help.say.split('\n').map((line) => line.trim().replace(/ {2,}/, ': ')) : [];
    expect(lines).toEqual(expect.arrayContaining(Object.entries(CATALOGUE).map(([name, what]) => `${name}: ${what}`)));
  });
});
