import { type TokenStore } from './token-store';

/**
 * Tests every implementation of a store. `open` returns another worker's view of the same store, which is empty at
 * first.
 */
export function tokenStoreContract(name: string, open: () => TokenStore): void {
  const token = { accessToken: 'a.b.c', usableUntil: Date.now() + 60_000 };

  describe(`The token store ${name}`, () => {
    it('gives every worker the latest token, separately for each application', async () => {
      expect(await open().read('ci_a@x')).toBeNull();
      await open().write('ci_a@x', { ...token, accessToken: 'older' });
      await open().write('ci_a@x', token);
      expect(await open().read('ci_a@x')).toEqual(token);
      expect(await open().read('ci_a@y')).toBeNull();
    });

    it('lets one worker of an application request a token at a time', async () => {
      const attempts = await Promise.all([1, 2, 3, 4, 5].map(() => open().tryLock('ci_b@x')));
      const [unlock, ...others] = attempts.filter((attempt) => attempt !== null);
      expect(others).toEqual([]);
      expect(await open().tryLock('ci_c@x')).not.toBeNull();
      await unlock?.();
      const next = await open().tryLock('ci_b@x');
      expect(next).not.toBeNull();
      // Unlocking twice must not release another worker's lock.
      if (name !== 'of a process') await unlock?.();
      expect(await open().tryLock('ci_b@x')).toBeNull();
    });
  });
}
