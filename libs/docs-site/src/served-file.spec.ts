import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import express from 'express';
import { serveFile } from './served-file';

describe('A file that is made at the first request', () => {
  it('is made again after a failure, and once after that', async () => {
    const app = express().set('env', 'test');
    const make = jest.fn(() => 'made').mockImplementationOnce(() => readFileSync('/no such file', 'utf8'));
    serveFile(app, '/file', 'txt', make);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const get = () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`);

    const [failed, first, second] = [await get(), await get(), await get()];
    server.close();

    expect([failed.status, await first.text(), await second.text()]).toEqual([500, 'made', 'made']);
    expect(make).toHaveBeenCalledTimes(2);
  });
});
