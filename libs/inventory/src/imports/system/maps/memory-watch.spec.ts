import type * as Watch from './memory-watch';

const MEGABYTE = 1_048_576;
const heap = { used_heap_size: 0, heap_size_limit: 0 };
jest.mock('node:v8', () => ({ getHeapStatistics: () => heap }));

describe('MemoryWatch', () => {
  const before = process.env['NODE_OPTIONS'];
  afterEach(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  });

  it('keeps free what young objects may take by the last option that Node was given', () => {
    process.env['NODE_OPTIONS'] = '--max-semi-space-size=16 --max-semi-space-size=64';
    Object.assign(heap, { used_heap_size: 50 * MEGABYTE, heap_size_limit: 448 * MEGABYTE });
    let memory: Watch.MemoryWatch | null = null;
    jest.isolateModules(() => {
      const { MemoryWatch } = jest.requireActual<typeof Watch>('./memory-watch');
      memory = new MemoryWatch();
    });
    const shortageAt = (megabytes: number): string | null => {
      heap.used_heap_size = megabytes * MEGABYTE;
      return (memory as unknown as Watch.MemoryWatch).shortage();
    };

    expect(shortageAt(200)).toBeNull();
    expect(shortageAt(230)).toMatch(/than this process has, 256 MB\./);
  });
});
