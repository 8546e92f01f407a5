import { didYouMean } from './did-you-mean';

describe('didYouMean', () => {
  it.each([
    ['pagesize', 'pageSize'],
    ['page_size', 'pageSize'],
    ['pageSzie', 'pageSize'],
    ['pagSiz', 'pageSize'],
    ['owner_id', 'ownerId'],
    ['id', 'ids'],
    ['nmae', 'name'],
    ['OWNERID', 'ownerId'],
  ])('finds the name near %s', (unknown, name) => {
    expect(didYouMean(unknown, ['tagKey', 'ids', 'name', 'ownerId', 'pageSize'])).toBe(` Did you mean ${name}?`);
  });

  it('names the nearest only', () => {
    expect(didYouMean('ownerIdd', ['ownerIdOf', 'ownerId'])).toBe(' Did you mean ownerId?');
  });

  // Two edits are half of a name of four.
  it.each(['limit', 'nam3s', 'xx', '', 'p'.repeat(10_000)])('finds none for %.10s', (unknown) => {
    expect(didYouMean(unknown, ['tagKey', 'ids', 'name', 'ownerId', 'pageSize'])).toBe('');
  });
});
