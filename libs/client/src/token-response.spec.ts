import { tokenOf } from './token-response';

describe('A token', () => {
  it.each([
    [3600, 3540],
    [600, 540],
    [10, 9],
  ])('of %i seconds is used for %i, so that it does not expire on its way', async (expires_in, usable) => {
    const answer = Response.json({ access_token: 'a', token_type: 'Bearer', expires_in });
    expect(await tokenOf(answer, 1_000_000)).toEqual({ accessToken: 'a', usableUntil: 1_000_000 + usable * 1_000 });
  });
});
