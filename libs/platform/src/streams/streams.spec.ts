import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Logger } from '@nestjs/common';
import { Metrics } from '../observability/metrics';
import { Streams } from './streams';

describe('A stream', () => {
  afterEach(() => jest.restoreAllMocks());

  it('that takes its place while the instance stops is cut', async () => {
    jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const leavePlace = jest.fn();
    const paging = { request: () => ({ page: { after: null }, filters: {}, texts: {} }) };
    const places = {
      take: async (_clientId: string, _response: unknown, read: () => Promise<object>) => {
        const first = await read();
        streams.stop();
        return { ...first, leavePlace };
      },
    };
    const metrics = new Metrics();
    const server = { httpAdapter: { holdStream: () => undefined } };
    const streams = new Streams(paging as never, {} as never, places as never, {} as never, server as never, metrics);
    const req = { context: { requestId: 'r' }, socket: {} };
    const response = Object.assign(new PassThrough(), { vary: jest.fn(), req });
    const noRows = { items: [], lastPosition: null, endPosition: null, totalCount: 0 };
    const list = { resource: 'things', item: 'thing', reader: () => () => Promise.resolve(noRows), feed: null };
    const caller = { mayGoOn: () => Promise.resolve(true) };

    await streams.begin(caller as never, {}, response as never, list as never);
    await once(response, 'close', { signal: AbortSignal.timeout(5_000) });

    expect(leavePlace).toHaveBeenCalledTimes(1);
    expect(await metrics.expose()).toContain('compliance_streams_total{outcome="stopped"} 1');
  });
});
