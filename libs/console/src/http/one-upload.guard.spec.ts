import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import type { ImportsService } from '#libs/inventory/operators';
import { Clock } from '#libs/kernel';
import type { UploadFiles } from '../system/upload-files.system';
import { OneUploadGuard } from './one-upload.guard';
import { Uploads } from './uploads';

describe('OneUploadGuard', () => {
  const files = { remove: () => undefined } as Partial<UploadFiles>;
  const uploads = new Uploads({} as ImportsService, files as UploadFiles, new Clock());
  const guard = new OneUploadGuard(uploads);
  const sent = (response: EventEmitter & { closed: boolean }): ExecutionContext =>
    ({
      switchToHttp: () => ({ getRequest: () => ({ signedIn: { workspaceId: 'a' } }), getResponse: () => response }),
    }) as unknown as ExecutionContext;
  const open = () => Object.assign(new EventEmitter(), { closed: false });

  it('refuses a second file until the first response is closed', () => {
    const first = open();
    guard.canActivate(sent(first));
    expect(() => guard.canActivate(sent(open()))).toThrow('on its way');
    first.emit('close');
    expect(() => guard.canActivate(sent(Object.assign(open(), { closed: true })))).not.toThrow();
  });

  it('is free again when the person left before', () => {
    guard.canActivate(sent(Object.assign(open(), { closed: true })));
    expect(guard.canActivate(sent(open()))).toBe(true);
  });
});
