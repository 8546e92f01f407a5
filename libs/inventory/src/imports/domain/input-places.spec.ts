import { InputPlaces } from './input-places';

describe('Places of lines', () => {
  it('are exact for as many files as a command line can name', () => {
    const places = new InputPlaces(Array.from({ length: 500_000 }, (_, index) => `${index}.json`));

    for (const fileIndex of [0, 9_007, 9_008, 499_999]) {
      for (const line of [1, 2, 3, 4_000_000_001]) {
        expect(places.at(places.placeOf({ fileIndex, line }))).toEqual({ file: `${fileIndex}.json`, line });
      }
    }
  });
});
