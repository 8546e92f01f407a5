import { whyImplausible } from './hide-limit';

describe('What an import may hide', () => {
  const why = (missing: number, visible: number, limit: Parameters<typeof whyImplausible>[1] = null) =>
    whyImplausible({ missing, visible, named: true }, limit);

  it('is a fifth of the source, or fewer than 20 assets, without being asked for', () => {
    expect(why(20, 100)).toBeNull();
    expect(why(19, 19)).toBeNull();
    expect(why(20, 99)).toMatch(/^20 of the 99 visible assets [^.]* set "hide at most" \(--hide-at-most\) to 20\.$/);
    expect(why(21, 100)).toMatch(/more than 20 %/);
  });

  it('is what the limit says, downwards too', () => {
    expect(why(1, 100, { assets: 1 })).toBeNull();
    expect(why(2, 100, { assets: 1 })).toMatch(/--hide-at-most\) allows only 1\.$/);
    expect(why(1, 100, { assets: 0 })).not.toBeNull();
    expect(why(100, 100, { percent: 100 })).toBeNull();
    expect(why(1, 100, { percent: 0.5 })).toMatch(/--hide-at-most\) allows only 0\.5%\.$/);
    expect(why(5, 1_000, { percent: 0.5 })).toBeNull();
    expect(why(69, 750, { percent: 9.2 })).toBeNull();
    expect(why(70, 750, { percent: 9.2 })).not.toBeNull();
  });

  it('is nothing when the input named no asset, whatever the limit', () => {
    for (const limit of [null, { assets: 9_999 }, { percent: 100 }]) {
      expect(whyImplausible({ missing: 3, visible: 3, named: false }, limit)).toMatch(/named no asset/);
    }
    expect(whyImplausible({ missing: 0, visible: 0, named: false }, null)).toBeNull();
  });
});
