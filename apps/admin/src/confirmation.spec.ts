import { PassThrough } from 'node:stream';
import { CommandFailed, WrongUsage } from './command-faults';
import { confirm } from './confirmation';

describe('A confirmation', () => {
  const { stdin, stderr } = process;
  afterEach(() => {
    Object.defineProperty(process, 'stdin', { value: stdin });
    Object.defineProperty(process, 'stderr', { value: stderr });
  });

  /** Somebody at a terminal, who types this line. */
  function terminal(line: string): void {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    const screen = Object.assign(new PassThrough(), { isTTY: true });
    screen.once('data', () => keyboard.write(`${line}\n`));
    Object.defineProperty(process, 'stdin', { value: keyboard });
    Object.defineProperty(process, 'stderr', { value: screen });
  }

  it.each(['y', 'yes', ' Y '])('is given by %j', async (line) => {
    terminal(line);
    await expect(confirm('Remove it?', {})).resolves.toBeUndefined();
  });

  it.each(['', 'n', 'yess', 'acme'])('is not given by %j', async (line) => {
    terminal(line);
    await expect(confirm('Remove it?', {})).rejects.toThrow(new CommandFailed('Nothing was changed.'));
  });

  it('by a word is given by this word', async () => {
    terminal(' acme ');
    await expect(confirm('Delete it?', {}, 'acme')).resolves.toBeUndefined();
  });

  it.each(['', 'y', 'yes', 'Acme', 'acme2'])('by a word is not given by %j', async (line) => {
    terminal(line);
    await expect(confirm('Delete it?', {}, 'acme')).rejects.toThrow(new CommandFailed('Nothing was changed.'));
  });

  it('without a terminal needs --yes', async () => {
    terminal('acme');
    Object.defineProperty(process, 'stdin', { value: new PassThrough() });
    await expect(confirm('Delete it?', {}, 'acme')).rejects.toThrow(WrongUsage);
    await expect(confirm('Delete it?', { yes: true }, 'acme')).resolves.toBeUndefined();
  });
});
