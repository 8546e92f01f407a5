import { tokenOf } from './token-response';

describe('A token', () => {
  it.each([
    [3600, 3540],
    [600, 540],
    [10, 9],
  ])('of %i seconds is used for %i, so that it does not expire on its way', (expires_in, usable) => {
    const parsed = { access_token: 'a', token_type: 'Bearer', expires_in };
    const received = Object.assign(new Response(), { parsed });
    expect(tokenOf(received, 1_000_000)).toEqual({ accessToken: 'a', usableUntil: 1_000_000 + usable * 1_000 });
  });
});
