import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import type { PoolClient } from 'pg';
import { PipelinedStatements, RowBudget, bind, prepared } from './pipelined-statements';

/** Tells whether V8 gives both objects the same hidden class. */
function haveOneShape(first: object, second: object): boolean {
  setFlagsFromString('--allow-natives-syntax');
  // Only code compiled after the flag is set may use native syntax.
  const look = runInThisContext('(first, second) => %HaveSameMap(first, second)') as typeof haveOneShape;
  return look(first, second);
}

describe('A statement with its values', () => {
  const statement = { name: 'find', text: 'SELECT $1' };

  it('has the shape of every other, so that code that reads it stays optimized', () => {
    const all = Array.from({ length: 1_000 }, (_, index) => bind(statement, [String(index)]));
    expect(all.at(-1)).toEqual({ ...statement, values: ['999'] });
    expect(all.every((one) => haveOneShape(one, bind({ name: 'other', text: 'SELECT 2' }, [])))).toBe(true);
  });
});

describe('The name of a prepared statement', () => {
  it('differs for two texts with one label, and is one for the same text', () => {
    expect(prepared('find', 'SELECT 1').name).not.toBe(prepared('find', 'SELECT 2').name);
    expect(prepared('find', 'SELECT 1')).toEqual(prepared('find', 'SELECT 1'));
  });
});

describe('A connection', () => {
  /** Answers each batch at once, and keeps what was sent. */
  const aConnection = () => {
    const connection = {
      parsedStatements: {} as Record<string, string>,
      sent: '',
      stream: { write: (bytes: Buffer) => void (connection.sent = bytes.toString('latin1')) },
    };
    const query = (batch: PipelinedStatements): void => {
      batch.submit(connection as never);
      batch.handleCommandComplete(undefined, connection as never);
      batch.handleReadyForQuery();
    };
    const run = (number: number) =>
      PipelinedStatements.run({ query } as unknown as PoolClient, [bind(prepared('find', `SELECT ${number}`), [])]);
    return { connection, run };
  };

  it('keeps 256 statements, however many there are, and runs the others without a name', async () => {
    const { connection, run } = aConnection();

    for (let number = 0; number < 300; number += 1) await run(number);

    expect(Object.keys(connection.parsedStatements)).toHaveLength(256);
    expect(connection.sent).toContain('\0SELECT 299\0');
    expect(connection.sent).not.toContain('find_');
    await run(0);
    expect(connection.sent).toContain(prepared('find', 'SELECT 0').name);
    expect(connection.sent).not.toContain('SELECT 0');
  });
});

describe('A statement with a budget that is not the last of its batch', () => {
  it('drops rows beyond the bytes, each time that it is sent', async () => {
    const write = (): boolean => true;
    const connection = { parsedStatements: {}, stream: { write } };
    const budget = new RowBudget(3, 10);
    const statements = [bind(prepared('many', 'SELECT 1'), [], budget), bind(prepared('last', 'SELECT 2'), [])];
    const client = {
      query: (batch: PipelinedStatements) => {
        batch.submit(connection as never);
        for (const row of ['a', 'b', 'c']) batch.handleDataRow({ fields: [row], length: 6 });
        batch.handleCommandComplete(undefined, connection as never);
        batch.handleDataRow({ fields: ['d'], length: 100 });
        batch.handleCommandComplete(undefined, connection as never);
        batch.handleReadyForQuery();
      },
    };

    for (let time = 0; time < 2; time += 1) {
      expect(await PipelinedStatements.run(client as unknown as PoolClient, statements)).toEqual([
        [['a'], ['b']],
        [['d']],
      ]);
      expect(budget.isCut).toBe(true);
    }
  });
});

describe('RowBudget', () => {
  it('keeps rows up to the one that reaches the bytes', () => {
    const budget = new RowBudget(10, 100);

    expect([60, 60, 1].map((bytes) => budget.takes(bytes))).toEqual([true, true, false]);
    expect(budget.isCut).toBe(true);
  });

  it('tells that the last row goes beyond the bytes, though none is missing', () => {
    const budget = new RowBudget(10, 100);

    const exceeded = [60, 40, 1].map((bytes) => budget.takes(bytes) && budget.isExceeded);
    expect(exceeded).toEqual([false, false, false]);
    budget.begin();
    expect([60, 60].map((bytes) => budget.takes(bytes) && budget.isExceeded)).toEqual([false, true]);
    expect(budget.isCut).toBe(false);
  });

  it('keeps one row of any size', () => {
    const budget = new RowBudget(10, 100);

    expect([budget.takes(1_000), budget.isCut]).toEqual([true, false]);
  });

  it('keeps as many rows of any size as it is told', () => {
    const budget = new RowBudget(10, 100, 2);

    expect([1_000, 1_000, 1].map((bytes) => budget.takes(bytes))).toEqual([true, true, false]);
  });

  it('begins again with a read that is repeated', () => {
    const budget = new RowBudget(10, 100);
    [100, 1].forEach((bytes) => budget.takes(bytes));

    budget.begin();

    expect([budget.isCut, budget.takes(1)]).toEqual([false, true]);
  });
});
