import { randomBytes } from 'node:crypto';
import { workspaceId } from '#libs/kernel';
import type { Response } from 'express';
import type { Settings } from '../config/settings';
import { ExactText } from '../input';
import { Cursors } from './cursors';
import { PageQueryDto } from './page.dto';
import { Paging } from './paging';

const HERE = workspaceId('00000000-0000-4000-8000-000000000001');

class QueryDto extends PageQueryDto {
  @ExactText({ maxLength: 256, description: 'A name.', example: 'a' })
  name?: string;
}

describe('A page request', () => {
  it('refuses the cursor of a newer instance with a filter that this one would ignore', () => {
    const key = { id: '00000000', secret: randomBytes(32) };
    const cursors = new Cursors({ current: () => key, find: () => key });
    const paging = new Paging(cursors, {} as Settings);
    const request = (filters: Record<string, string>) => {
      const pageCursor = cursors.issue(HERE, 'assets', { after: '7', filters });
      const query = Object.assign(new QueryDto(), { pageCursor });
      return paging.request(HERE, 'assets', query, { req: { query: { pageCursor } } } as unknown as Response);
    };

    expect(request({ name: 'a' })).toMatchObject({ page: { after: '7' }, filters: { name: 'a' } });
    expect(() => request({ name: 'a', newest: 'b' })).toThrow('pageCursor holds newest');
  });
});
