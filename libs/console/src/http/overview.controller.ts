import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Access } from './access.decorator';
import { sendPage } from './page';

@Controller()
@Access('viewer')
export class OverviewController {
  @Get()
  show(@Res() response: Response): void {
    sendPage(response, 'overview', { title: 'Overview' });
  }
}
