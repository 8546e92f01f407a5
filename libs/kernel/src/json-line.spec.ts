import { jsonLine } from './json-line';

describe('A line of JSON', () => {
  it('has no character at which a reader ends a line, and the same value', () => {
    const name = 'a\u0085b\u2028c\u2029d\u000be\u001cf\r\ng';

    const line = jsonLine({ name });

    expect(line.split(/[\u0085\u2028\u2029\v\u001c-\u001e\r\n]/)).toHaveLength(1);
    expect(JSON.parse(line)).toEqual({ name });
  });
});
