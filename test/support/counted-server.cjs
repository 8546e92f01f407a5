// A server in a process of its own, made to be killed. Records each request before anything else. Ends with its parent.
const { appendFileSync } = require('node:fs');
const { createServer } = require('node:http');

process.stdin.on('close', () => process.exit()).resume();

const [port, file] = process.argv.slice(2);
createServer((request, response) => {
  if (request.url !== '/readyz') appendFileSync(file, `${request.method} ${request.url}\n`);
  // Long enough that some requests are in flight whenever it is killed, even with few clients.
  setTimeout(() => response.end('{}'), request.url === '/readyz' ? 0 : 200);
}).listen(Number(port), '127.0.0.1');
