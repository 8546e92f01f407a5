import { createInterface } from 'node:readline/promises';
import { CommandFailed, WrongUsage } from './command-faults';

/** Asks before data is removed. Without a terminal, `--yes` is required. Where a word is given, it must be typed. */
export async function confirm(
  question: string,
  options: { readonly yes?: boolean },
  word: string | null = null,
): Promise<void> {
  if (options.yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new WrongUsage('This removes data and needs a confirmation. Without a terminal, add --yes.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // readline intercepts Ctrl-C.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const response = (await terminal.question(`${question} ${word === null ? '[y/N]' : `Type ${word}:`} `)).trim();
    const agreed = word === null ? /^y(es)?$/i.test(response) : response === word;
    if (!agreed) throw new CommandFailed('Nothing was changed.');
  } finally {
    terminal.close();
  }
}
