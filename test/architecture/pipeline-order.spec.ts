import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AuthenticateAndChargeGuard, ScopeGuard } from '#libs/auth';
import { ProblemFilter } from '#libs/platform/http/server';
import { InputPipe } from '#libs/platform/input';
import { requestPipeline } from '../../apps/api/src/request-pipeline';

describe('The request pipeline', () => {
  it('checks token, rate limit, scope and input in this order', () => {
    const steps = requestPipeline.map((provider) => {
      const { provide, useClass, useExisting } = provider as {
        provide: string;
        useClass?: object;
        useExisting?: object;
      };
      return [provide, useClass ?? useExisting];
    });
    expect(steps).toEqual([
      [APP_GUARD, AuthenticateAndChargeGuard],
      [APP_GUARD, ScopeGuard],
      [APP_PIPE, InputPipe],
      [APP_FILTER, ProblemFilter],
    ]);
  });
});
