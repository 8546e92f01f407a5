import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as step } from 'node:timers/promises';
import { ForbiddenException } from '@nestjs/common';
import type { ImportReport } from '#libs/inventory/operators';
import { workspaceId } from '#libs/kernel';
import type { Settings } from '#libs/platform/config';
import { NO_COUNTS } from '../../../inventory/src/imports/domain/recorded-run';
import type { Person } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import { UploadFiles } from '../system/upload-files.system';
import type { People } from '../typeorm/people';
import { AnotherResponse } from './page';
import type { ImportEnd, ImportNews, ImportOrder, ImportProcesses, UploadOptions } from './import-processes';
import { type StoredFile, type Upload, Uploads } from './uploads';

const OPTIONS: UploadOptions = { source: 'hr', missing: 'keep', createTagKeys: null, map: null };
const REPORT = { report: { failed: 0 } as ImportReport };
const PROGRESS = { ...NO_COUNTS, bytesRead: 1, bytesTotal: 1 };

describe('Uploads', () => {
  const port = Math.floor(Math.random() * 1e9);
  const directoryAt = (host: string) => join(tmpdir(), `compliance-console-${host}-${port}`);
  const directory = directoryAt('127.0.0.1');
  const filesAt = (host: string) => new UploadFiles({ console: { host, port } } as Settings);
  const files = filesAt('127.0.0.1');
  let now = 0;
  const advance = (milliseconds: number) => (now += milliseconds);
  let imports: {
    order: ImportOrder;
    tell: (news: ImportNews) => void;
    end: (end: ImportEnd) => void;
    fail: (error: unknown) => void;
  }[];
  let uploads: Uploads;
  let people: Partial<Person>[];
  beforeEach(() => {
    people = [{ state: 'open', role: 'admin' }];
    files.empty();
    imports = [];
    const processes = {
      run: (order: ImportOrder, tell: (news: ImportNews) => void) =>
        new Promise<ImportEnd>((end, fail) => imports.push({ order, tell, end, fail })),
      endIdle: () => undefined,
      end: () => imports.forEach(({ fail }) => fail(new Error('The test ended.'))),
    };
    const list = { list: () => Promise.resolve(people) } as unknown as People;
    uploads = new Uploads(processes as unknown as ImportProcesses, list, files);
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await uploads.onModuleDestroy();
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const personOf = (digit: number) =>
    ({ workspaceId: workspaceId(`0000000${digit}-0000-4000-8000-000000000000`), personId: 'p' }) as SignedIn;
  const aFile = (
    digit = 1,
    originalname = 'x',
    { stream = Readable.from(['x']), admit = () => Promise.resolve() } = {},
  ) =>
    new Promise<StoredFile>((resolve, reject) =>
      uploads._handleFile(
        Object.assign(stream, { signedIn: personOf(digit), admit }),
        { originalname, stream },
        (error, stored) =>
          // The request ends after its file.
          error ? reject(error) : setImmediate(resolve, stored as StoredFile),
      ),
    );
  const settle = async () => {
    for (let steps = 0; steps < 5; steps += 1) await step();
  };
  const begin = async (digit = 1) => {
    const upload = uploads.begin(personOf(digit), await aFile(digit), OPTIONS, {});
    await settle();
    return upload;
  };
  const importNow = async (upload: Upload, digit = 1) => {
    uploads.import(personOf(digit), upload);
    await settle();
  };

  it('removes a file an hour after its last run, however the clock is set, and none that is under way', async () => {
    const [waiting, running] = [await begin(1), await begin(2)];
    jest.spyOn(Date, 'now').mockReturnValue(0);
    advance(3_600_000);
    imports[0]?.end(REPORT);
    await settle();

    advance(3_599_999);
    uploads.expire();
    expect([waiting, running].map(({ path }) => existsSync(path))).toEqual([true, true]);
    advance(1);
    uploads.expire();

    expect([waiting, running].map(({ path }) => existsSync(path))).toEqual([false, true]);
    expect(() => uploads.find(personOf(1), waiting.id)).toThrow(AnotherResponse);
  });

  it('runs three imports at one time, and the others in their order', async () => {
    for (const digit of [1, 2, 3, 4, 5]) await begin(digit);
    expect(imports).toHaveLength(3);

    imports[1]?.end(REPORT);
    await settle();
    expect(imports).toHaveLength(4);
    imports[0]?.fail(new Error('lost'));
    await settle();

    expect(imports).toHaveLength(5);
    const [first, second, , , last] = [1, 2, 3, 4, 5].map((digit) => uploads.of(personOf(digit).workspaceId));
    expect([first?.state, second?.state, last?.state]).toEqual(['refused', 'tried', 'trying']);
    expect(first?.reason).toMatch(/on our side/);
  });

  it('begins no import while the console stops', async () => {
    const upload = uploads.begin(personOf(1), await aFile(), OPTIONS, {});

    await uploads.onModuleDestroy();

    expect([imports.length, upload.reason]).toEqual([0, 'The console stopped.']);
  });

  it.each([
    ['removed', { state: 'removed', role: 'admin' }],
    ['demoted', { state: 'open', role: 'viewer' }],
  ] as const)('imports nothing for a person who was %s after asking for it', async (_, person) => {
    const upload = await begin();
    imports[0]?.tell({ failedKept: 1 });
    imports[0]?.end(REPORT);
    await settle();

    people = [person];
    await importNow(upload);

    expect([imports.length, upload.state, upload.failedKept, upload.reason]).toEqual([
      ...[1, 'refused', 0],
      'Its person may not import any more.',
    ]);
    expect(existsSync(upload.path)).toBe(false);
  });

  it('shows nothing of the last run while an import waits for its turn', async () => {
    const upload = await begin(1);
    imports[0]?.tell({ progress: PROGRESS });
    imports[0]?.end(REPORT);
    await settle();
    for (const digit of [2, 3, 4]) await begin(digit);

    await importNow(upload);
    const { state, progress } = upload;
    imports.forEach(({ end }) => end(REPORT));
    await settle();

    expect([state, progress]).toEqual(['importing', null]);
    expect(imports).toHaveLength(5);
  });

  it('gives a file a name that can be stored and recorded', async () => {
    const { path } = await aFile(1, '../\0\ud800.csv');

    expect(basename(path)).toBe('..___.csv');
  });

  it('tells what became of an import whose file cannot be removed, and runs the next', async () => {
    const [refused, imported] = [await begin(1), await begin(2)];
    imports[1]?.end(REPORT);
    await settle();
    await importNow(imported, 2);
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');

    imports[0]?.fail(new Error('lost'));
    imports[2]?.end(REPORT);
    await uploads.onModuleDestroy();
    rmSync(directory);

    expect([refused.state, imported.state]).toEqual(['refused', 'imported']);
  });

  it('forgets old uploads whose files cannot be removed', async () => {
    const old = [await begin(1), await begin(2)];
    imports.forEach(({ end }) => end(REPORT));
    await settle();
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');

    advance(3_600_000);
    uploads.expire();
    rmSync(directory);

    expect(old.map(({ workspaceId: id }) => uploads.of(id))).toEqual([null, null]);
  });

  it('interrupts what is under way when the process stops', async () => {
    const upload = await begin();

    await uploads.onModuleDestroy();

    expect(existsSync(upload.path)).toBe(false);
  });

  describe('while all places are taken', () => {
    /** Places of other workspaces, whose files are on their way. */
    const take = async (places: number) => {
      for (let place = 0; place < places; place += 1) await aFile(9);
    };
    const endRuns = async (...places: number[]) => {
      for (const place of places) {
        advance(1);
        imports[place]?.end(REPORT);
        await settle();
      }
    };
    const left = (uploaded: Upload[]) => uploaded.map(({ path }) => existsSync(path));

    it('refuses more files than the disk should hold', async () => {
      await take(20);

      await expect(aFile()).rejects.toThrow('Too many files');
    });

    it('ends the file that waits longest, and none that is under way', async () => {
      const uploaded = [await begin(1), await begin(2), await begin(3), await begin(4), await begin(5)];
      await endRuns(2, 1);
      uploads.import(personOf(3), uploaded[2] as Upload);
      await endRuns(0);
      await take(15);

      await aFile(6);

      expect(left(uploaded)).toEqual([true, false, true, true, true]);
      expect(() => uploads.find(personOf(2), uploaded[1]?.id ?? '')).toThrow(AnotherResponse);
    });

    it('replaces the own file of a workspace, and ends no other one', async () => {
      const uploaded = [await begin(1), await begin(2)];
      await endRuns(0, 1);
      await take(18);

      await begin(2);

      expect(left(uploaded)).toEqual([true, false]);
    });

    it('refuses a second file of a workspace, and ends no other one, while the first one is under way', async () => {
      const uploaded = [await begin(1), await begin(2)];
      await endRuns(0);
      await take(18);

      await expect(aFile(2)).rejects.toThrow('An import of this workspace is under way.');

      expect(left(uploaded)).toEqual([true, true]);
    });

    it('goes on to the next one where an import left no file', async () => {
      const uploaded = [await begin(1), await begin(2)];
      imports[0]?.fail(new Error('lost'));
      await endRuns(1);
      await take(19);

      await aFile(3);

      expect(left(uploaded)).toEqual([false, false]);
    });
  });

  it('keeps places for failed records alone, when an import has ended', async () => {
    const [clean, failed] = [await begin(1), await begin(2)];
    imports[1]?.tell({ failedKept: 1 });
    imports.forEach(({ end }) => end(REPORT));
    await settle();
    await importNow(clean);
    await importNow(failed, 2);
    writeFileSync(imports[3]?.order.failedRecords ?? '', 'x');
    imports[3]?.tell({ failedKept: 1 });
    imports.forEach(({ end }) => end(REPORT));
    await settle();

    expect([clean.state, failed.state, existsSync(failed.path)]).toEqual(['imported', 'imported', false]);
    expect(readdirSync(directory, { recursive: true }).map((one) => basename(String(one)))).toEqual([
      basename(dirname(dirname(failed.path))),
      'failed-records.ndjson',
    ]);
  });

  it('makes its directory again after a cleaner of temporary files removed it', async () => {
    rmSync(directory, { recursive: true });

    const { path } = await aFile();

    expect(existsSync(path)).toBe(true);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it('stays when a console begins at another address of the machine, with the same port', async () => {
    const { path } = await aFile();

    for (const host of ['127.0.0.2', '::1']) filesAt(host).empty();
    for (const host of ['127.0.0.2', '%3A%3A1']) rmSync(directoryAt(host), { recursive: true });

    expect(existsSync(path)).toBe(true);
  });

  it('receives one file of a workspace at a time', async () => {
    const first = aFile();

    await expect(aFile()).rejects.toThrow('on its way');
    await expect(aFile(2)).resolves.toBeDefined();
    await first;
    await expect(aFile()).resolves.toBeDefined();
  });

  describe('while a file of the workspace is on its way', () => {
    const secondAfter = async (refusal: Error) => {
      const stream = new PassThrough();
      const first = Promise.allSettled([aFile(1, 'x', { stream, admit: () => Promise.reject(refusal) })]);
      await settle();
      const second = Promise.allSettled([aFile()]);
      await settle();
      stream.end();
      return [...(await first), ...(await second)];
    };

    it('ends it for the next one when its person lost the right', async () => {
      const refusal = new ForbiddenException();

      expect(await secondAfter(refusal)).toMatchObject([{ reason: refusal }, { status: 'fulfilled' }]);
    });

    it('goes on with it when nobody can tell whether its person lost the right', async () => {
      const lost = new Error('The database is away.');

      expect(await secondAfter(lost)).toMatchObject([{ status: 'fulfilled' }, { reason: lost }]);
    });
  });

  it('reports a directory that it cannot use, and throws nothing at the reader of forms', async () => {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');

    await expect(aFile()).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
