import type { IncomingMessage } from 'node:http';
import { entityTagOf, ifMatch, refuseIfMatch } from './entity-tag';

const request = (header?: string) =>
  ({ headers: header === undefined ? {} : { 'if-match': header } }) as unknown as IncomingMessage;

describe('If-Match', () => {
  it.each([
    [undefined, true],
    ['*', true],
    [' * ', true],
    ['"7"', true],
    ['"6"', false],
    ['W/"7"', false],
    ['"6", "7"', true],
    ['"a,b","7"', true],
    ['"a","b"', false],
    ['""', false],
    [',"99999"', false],
    [', ,"7"', true],
    ['"6", ,"7",,', true],
  ])('%s holds for version 7: %s', (header, expected) => expect(ifMatch(request(header))(7)).toBe(expected));

  it.each(['7', '"7', '7"', '"7" "8"', ',', ', ,', ',7', '', '"a"b"', '*, "7"', 'w/"7"'])('%s is refused', (header) =>
    expect(() => ifMatch(request(header))).toThrow('If-Match'),
  );

  it('is refused where there is no single version', () => {
    expect(() => refuseIfMatch(request('"7"'))).toThrow('single resource');
    expect(() => refuseIfMatch(request())).not.toThrow();
  });

  it('names a version as ETag does', () => expect(entityTagOf(7)).toBe('"7"'));
});
