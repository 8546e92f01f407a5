// A server as a process of its own, to be killed: it writes down each request before it does anything else. It ends with
// whoever started it.
const { appendFileSync } = require('node:fs');
const { createServer } = require('node:http');

process.stdin.on('close', () => process.exit()).resume();

const [port, file] = process.argv.slice(2);
createServer((request, response) => {
  if (request.url !== '/readyz') appendFileSync(file, `${request.method} ${request.url}\n`);
  // Long enough for some to be under way whenever it is killed, however seldom its clients have their turn.
  setTimeout(() => response.end('{}'), request.url === '/readyz' ? 0 : 200);
}).listen(Number(port), '127.0.0.1');
