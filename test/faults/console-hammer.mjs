// Attacks a console until it is killed: `node console-hammer.mjs ORIGIN CONNECTIONS COOKIE`. Some requests come with a
// session that nobody has, some with that of the cookie, some guess links, some go to addresses that are not there.
import { Agent, request } from 'node:http';

const [origin, connections, ofViewer] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const cookie = `console_session=00000000-0000-4000-8000-000000000000.${'x'.repeat(43)}`;
const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin };
const KINDS = [
  { method: 'GET', path: '/', headers: { Cookie: cookie } },
  { method: 'GET', path: '/inventory?name=x', headers: { Cookie: cookie } },
  { method: 'POST', path: '/applications', headers: { Cookie: cookie, ...form } },
  { method: 'POST', path: `/sign-in/link/00000000-0000-4000-8000-000000000000.${'x'.repeat(43)}`, headers: form },
  { method: 'GET', path: '/nowhere', headers: {} },
  { method: 'GET', path: '/', headers: { Cookie: ofViewer } },
  { method: 'GET', path: '/audit', headers: { Cookie: ofViewer } },
  { method: 'POST', path: '/people', headers: { Cookie: ofViewer, ...form } },
];

let answered = 0;
function attack(place) {
  const { method, path, headers } = KINDS[place % KINDS.length];
  const again = () => setImmediate(attack, place + 1);
  const sent = request(`${origin}${path}`, { method, headers, agent }, (response) => {
    response.resume().once('end', () => {
      answered += 1;
      if (answered === 1_000) process.stdout.write('attacking\n');
      again();
    });
  });
  sent.once('error', again);
  sent.end(method === 'POST' ? 'csrf=x&workspace=x' : undefined);
}
for (let place = 0; place < Number(connections); place += 1) attack(place);
