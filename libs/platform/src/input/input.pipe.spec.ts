import { Allow, IsOptional, Length } from 'class-validator';
import type { ValidationFailed } from '#libs/kernel';
import { Flag, InputPipe, NestedList, ReadOnlyMembers, Text, Uuids } from './index';

class EntryDto {
  @Text({ required: true, maxLength: 3, description: 'Key.' })
  key!: string;
}

@ReadOnlyMembers(['id'])
class BodyDto {
  @NestedList({ nullable: true, type: EntryDto, maxItems: 2, description: 'Entries.' })
  entries?: EntryDto[] | null;

  @Uuids({ minItems: 0, maxItems: 100, description: 'Ids.' })
  ids?: string[];

  @Flag({ nullable: true, description: 'Flag.' })
  flag?: boolean | null;

  @Length(2, 3)
  @IsOptional()
  stock?: string;

  @Allow()
  any?: unknown;
}

const pipe = new InputPipe();
const ID = '018F9C2E-7d2a-7c41-9a51-3b6d0f2e8c11';

async function faultsOf(text: string): Promise<string[]> {
  try {
    await pipe.transform(JSON.parse(text), { type: 'body', metatype: BodyDto });
    return [];
  } catch (error) {
    return (error as ValidationFailed).faults.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

describe('A body', () => {
  it('becomes its DTO, with ids in lower case', async () => {
    const sent = { entries: [{ key: 'a' }], ids: [ID], flag: null, stock: 'ab' };
    const read = await pipe.transform(sent, { type: 'body', metatype: BodyDto });
    expect(read).toBeInstanceOf(BodyDto);
    expect(read).toEqual({ ...sent, ids: [ID.toLowerCase()] });
  });

  it.each([
    ['[]', [' format']],
    ['{"stock":"abcd"}', ['/stock format']],
    ['{"stock":"ab","id":"x","other":null}', ['/id readonly', '/other unknown']],
    ['{"stock":"ab","flag":"true"}', ['/flag format']],
    ['{"stock":"ab","ids":["x",1]}', ['/ids/0 format', '/ids/1 format']],
    ['{"stock":"ab","entries":[{"key":"a"},{"key":"long"}]}', ['/entries/1/key length']],
    ['{"stock":"ab","entries":[[{"key":"a"}]]}', ['/entries/0 format']],
    ['{"entries":["a",{"key":"long"}]}', ['/entries/0 format', '/entries/1/key length']],
    ['{"entries":[["a"],{"key":"long"}]}', ['/entries/0 format', '/entries/1/key length']],
    ['{"ids":[["a"],"b"]}', ['/ids/0 format', '/ids/1 format']],
    ['{"entries":[null,{}]}', ['/entries/0 format', '/entries/1/key required']],
    [
      '{"__proto__":{},"entries":[{"key":"a","constructor":1}]}',
      ['/__proto__ unknown', '/entries/0/constructor unknown'],
    ],
    ['{"prototype":1,"entries":[{"key":"a","prototype":{}}]}', ['/prototype unknown', '/entries/0/prototype unknown']],
    ['{"stock":"abcd","toString":1}', ['/stock format', '/toString unknown']],
    ['{"stock":{"constructor":1},"other":{"__proto__":1}}', ['/other unknown', '/stock format']],
  ])('%s is refused with its places', async (text, faults) => {
    expect(await faultsOf(text)).toEqual(faults);
  });

  it('is refused with the name that an unknown one may stand for', async () => {
    const sent = { stock: 'ab', falg: true, entries: [{ key: 'a', Key: 'b' }] };
    await expect(pipe.transform(sent, { type: 'body', metatype: BodyDto })).rejects.toMatchObject({
      faults: [
        { pointer: '/falg', detail: 'falg is not a member of this request. Did you mean flag?' },
        { pointer: '/entries/0/Key', detail: 'Key is not a member of this request. Did you mean key?' },
      ],
    });
  });

  it('is refused with all its faults when an array is long', async () => {
    const entries = Array(101).fill('{}').join(',');
    expect(await faultsOf(`{"stock":"abcd","entries":[${entries}]}`)).toEqual(['/entries length', '/stock format']);
  });

  it('is never cut in silence, even where a DTO sets no limit', async () => {
    expect(await faultsOf(`{"any":[${Array(101).fill('1').join(',')}]}`)).toEqual(['/any length']);
  });

  it('is refused by the names of its members when it has many', async () => {
    const members = Array.from({ length: 20_000 }, (_, index) => `"m${index}":1`).join(',');
    expect(await faultsOf(`{${members},"stock":"ab"}`)).toEqual(
      Array.from({ length: 20 }, (_, index) => `/m${index} unknown`),
    );
  });
});

describe('A path parameter', () => {
  it('is a UUID, whatever its name', async () => {
    const metadata = { type: 'param', metatype: String, data: 'vendorId' } as const;
    expect(await pipe.transform(ID, metadata)).toBe(ID.toLowerCase());
    await expect(pipe.transform('abc', metadata)).rejects.toMatchObject({ faults: [{ parameter: 'vendorId' }] });
  });
});
