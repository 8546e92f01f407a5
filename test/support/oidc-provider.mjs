// An issuer of OpenID Connect for tests: `node oidc-provider.mjs PORT REDIRECT_URI [HOST]`. A line `sub|email|true` on its
// input gives an account its address, verified or not. Whoever types `sub` at its sign-in is this account. `!cut` lets its
// token endpoint close connections, `!fault` respond with 502, `!iss` and `!nonce` give id tokens with another issuer or
// nonce, and `!serve` serve again.
import { createInterface } from 'node:readline';
import { Provider } from 'oidc-provider';

const [port, redirectUri, host = '127.0.0.1'] = process.argv.slice(2);
const issuer = `http://${host}:${port}`;
const addresses = new Map();
const provider = new Provider(issuer, {
  clients: [{ client_id: 'console', client_secret: 'console-secret', redirect_uris: [redirectUri] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  pkce: { required: () => true },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...addresses.get(sub) }) }),
});
let mode = 'serve';
provider.use(async (context, next) => {
  if (context.path !== '/token' || mode === 'serve') return next();
  if (mode === 'cut') return context.req.socket.destroy();
  if (mode === 'iss' || mode === 'nonce')
    return next().then(() => (context.body.id_token = withAnother(mode, context.body.id_token)));
  context.status = 502;
  context.body = 'Bad Gateway';
});
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${issuer}\n`));
function withAnother(claim, token) {
  const [header, payload, signature] = token.split('.');
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), [claim]: 'https://other.example' };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const [sub, email, verified] = line.split('|');
  if (line.startsWith('!')) mode = line.slice(1);
  else addresses.set(sub, email ? { email, email_verified: verified === 'true' } : {});
  process.stdout.write(`${line}\n`);
});
