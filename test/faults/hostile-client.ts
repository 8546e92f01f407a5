import { type Socket, connect } from 'node:net';

// A hostile client with many connections, in a process of its own. Opens them, does to each what its first argument
// names, reads nothing, and stays until it is ended.

const HOST = 'Host: a\r\n';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const ENDLESS = 'Content-Length: 1000000000000\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const post = (headers: string): string => `POST /oauth/token HTTP/1.1\r\n${HOST}${FORM}${headers}\r\n`;
const update = (headers: string): string => `PATCH /v1/inventory/assets HTTP/1.1\r\n${HOST}${headers}\r\n`;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;

/** Data sent once on a connection, and data sent repeatedly afterwards. */
const FAULTS: Readonly<Record<string, readonly [once: string, forever?: string]>> = {
  'pipelined requests': [get('/docs/openapi.json').repeat(1_500)],
  'requests of 3,000 headers': ['', `GET /v1/health HTTP/1.1\r\n${HOST}${'a:b\r\n'.repeat(3_000)}\r\n`],
  'pipelined forms': [`${post('Content-Length: 3\r\n')}a=b`.repeat(700)],
  'a form of one-byte chunks': [post(CHUNKED), '1\r\na\r\n'.repeat(10_000)],
  'a refused body of one-byte chunks': [update(CHUNKED), '1\r\na\r\n'.repeat(10_000)],
  'a form that stops before its end': [post('Content-Length: 16000\r\n') + 'x'.repeat(15_900)],
  'a large form that stops before its end': [post('Content-Length: 262144\r\n') + 'x'.repeat(250_000)],
  'an endless body behind a refusal': [update(ENDLESS), 'x'.repeat(65_536)],
  'an endless body of a path that is not there': [
    `POST /nowhere HTTP/1.1\r\n${HOST}${ENDLESS}\r\n`,
    'x'.repeat(65_536),
  ],
  'an endless body of a GET': [`GET /v1/health HTTP/1.1\r\n${HOST}${ENDLESS}\r\n`, 'x'.repeat(65_536)],
  'a large response that is never read': [get('/docs/swagger-ui-bundle.js').repeat(2)],
  'a request that never ends': ['GET /v1/health HTTP/1.1\r\nHost: '],
  'nothing at all': [''],
  'a CONNECT behind requests': [get('/docs/openapi.json').repeat(10) + `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`],
};

const [fault = '', port = '0', connections = '0'] = process.argv.slice(2);
const [once, forever] = FAULTS[fault] ?? [''];
const [first, more] = [Buffer.from(once), forever === undefined ? null : Buffer.from(forever)];

function open(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
    socket.pause();
    socket.on('error', () => undefined);
    socket.once('connect', () => {
      socket.write(first);
      if (more) send(socket, more);
      resolve();
    });
    socket.once('close', () => resolve());
  });
}

function send(socket: Socket, bytes: Buffer): void {
  if (!socket.writable) return;
  if (socket.write(bytes)) setImmediate(() => send(socket, bytes));
  else socket.once('drain', () => send(socket, bytes));
}

async function main(): Promise<void> {
  for (let opened = 0; opened < Number(connections); opened += 50) await Promise.all(Array.from({ length: 50 }, open));
  // Unread connections do not keep a process alive.
  setInterval(() => undefined, 60_000);
  process.stdout.write('open\n');
}

void main();
