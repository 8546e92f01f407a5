import { type IncomingMessage, get } from 'node:http';

// Clients in a process of their own, one for each token. Each reads one stream after another and keeps nothing. Writes a
// line for each stream that has begun.

const [port = '0', path = '/', ...tokens] = process.argv.slice(2);

function readOn(token: string): void {
  const again = (): void => void setTimeout(() => readOn(token), 20);
  const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${token}` };
  get({ host: '127.0.0.1', port: Number(port), path, agent: false, headers }, (response: IncomingMessage) => {
    if (response.statusCode === 200) process.stdout.write('begun\n');
    response.resume().once('error', () => undefined);
    response.once('close', again);
  }).once('error', again);
}

for (const token of tokens) readOn(token);
