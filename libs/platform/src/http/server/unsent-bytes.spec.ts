import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { UnsentBytes } from './unsent-bytes';

const SECOND = 1_000;

describe('Bodies that wait for their clients', () => {
  let unsent: UnsentBytes;
  /** Clients whose connections were closed. */
  let cut: string[];
  beforeEach(() => {
    unsent = new UnsentBytes();
    cut = [];
    jest.useFakeTimers();
  });
  afterEach(() => jest.useRealTimers());

  const aResponse = (clientId = 'ci_1', method = 'GET') => {
    const response = new EventEmitter();
    const destroy = () => {
      cut.push(clientId);
      response.emit('close');
    };
    const req = { method, context: { caller: { clientId } } };
    return Object.assign(response, { req, destroy, removeHeader: () => undefined }) as unknown as Response;
  };

  it.each([
    [1, 50],
    [5, 130],
  ])('lose their connection when %d MB are not read in %d s', (megabytes, seconds) => {
    unsent.holdWhole(aResponse(), megabytes * 1e6);
    jest.advanceTimersByTime(seconds * SECOND - 1);
    expect(cut).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(cut).toEqual(['ci_1']);
  });

  it('keep their connection once they are read, and so do streams', () => {
    const [read, stream] = [aResponse(), aResponse()];
    unsent.holdWhole(read, 1e6);
    unsent.hold(stream, 2e6);
    read.emit('close');
    jest.advanceTimersByTime(3_600 * SECOND);
    expect([cut, jest.getTimerCount()]).toEqual([[], 0]);
  });

  it('leave room for another application, and for all when they were cut', () => {
    const held = Array.from({ length: 8 }, () => aResponse());
    for (const response of held) unsent.holdWhole(response, 5e6);
    expect(() => unsent.holdWhole(aResponse(), 5e6)).toThrow('Earlier responses wait to be read');
    unsent.holdWhole(aResponse('ci_2'), 20e6);
    expect(() => unsent.holdWhole(aResponse('ci_3'), 21e6)).toThrow('Earlier responses');
    jest.advanceTimersByTime(130 * SECOND);
    unsent.holdWhole(aResponse(), 5e6);
  });

  it('do not count for clients that have left', () => {
    for (let n = 0; n < 40; n += 1) unsent.hold(Object.assign(aResponse(), { closed: true }), 2e6);
    unsent.holdWhole(aResponse(), 40e6);
  });

  it('count for writes too, and not for HEAD', () => {
    for (let n = 0; n < 40; n += 1) unsent.holdWhole(aResponse('ci_1', 'HEAD'), 5e6);
    for (let n = 0; n < 8; n += 1) unsent.holdWhole(aResponse('ci_1', 'PATCH'), 5e6);
    for (const method of ['PATCH', 'GET']) {
      expect(() => unsent.holdWhole(aResponse('ci_1', method), 5e6)).toThrow('Earlier responses wait to be read');
    }
  });

  it('count once, from before their update is applied', () => {
    const held = Array.from({ length: 8 }, () => aResponse('ci_1', 'PATCH'));
    for (const response of held) unsent.hold(response, 5e6);
    expect(() => unsent.hold(aResponse('ci_1', 'PATCH'), 5e6)).toThrow('Earlier responses wait to be read');

    for (const response of held) unsent.holdWhole(response, 5e6);

    jest.advanceTimersByTime(130 * SECOND);
    expect(cut).toHaveLength(8);
    unsent.holdWhole(aResponse(), 5e6);
  });
});
