import { GUIDES } from './guide-list';
import { searchIndex } from './guide-search';
import { renderGuides } from './guides';

/** Runs `work`, and counts the turns that the event loop had for others. */
async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  let isDone = false;
  const another = (): void => {
    turns += 1;
    if (!isDone) setImmediate(another);
  };
  setImmediate(another);
  const result = await work();
  isDone = true;
  return { result, turns };
}

describe('The guides', () => {
  it('let other requests have their turns while they are made', async () => {
    const pages = await turnsDuring(() => renderGuides('https://api.example.test'));

    expect(pages.result.size).toBe(GUIDES.length);
    expect(pages.turns).toBeGreaterThanOrEqual(GUIDES.length);
  });

  it('let other requests have their turns while the index for their search is made', async () => {
    const guides = await renderGuides('https://api.example.test');
    const sections = [...guides.values()].flatMap(({ passages }) => passages).length;

    const index = await turnsDuring(() => searchIndex(guides));

    expect(JSON.parse(index.result)).toMatchObject({ index: { documentCount: sections } });
    expect(index.turns).toBeGreaterThanOrEqual(sections / 10);
  });
});
