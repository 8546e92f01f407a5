import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { type Settings } from '#libs/platform/config';
import { RequireScope } from '#libs/platform/http';
import { ScopeGuard } from './scope.guard';

class Routes {
  @RequireScope('inventory:read')
  list(this: void): void {}
}

describe('ScopeGuard', () => {
  it('refuses a route whose caller nobody identified, such as one that skips the throttler', () => {
    const guard = new ScopeGuard(new Reflector(), {} as Settings);
    const route = new ExecutionContextHost([{ context: { caller: null } }, {}], Routes, Routes.prototype.list);

    expect(() => guard.canActivate(route)).toThrow('A bearer token is required.');
  });
});
