import { Controller, Get, Header, HttpCode } from '@nestjs/common';
import { Access } from './access.decorator';
import { CONSOLE_SCRIPT } from './views/script';
import { CONSOLE_STYLE } from './views/style';

/** Serves the files that pages load. They hold nothing of a workspace. */
@Controller()
@Access('anyone')
export class FilesController {
  @Get('console.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(): string {
    return CONSOLE_STYLE;
  }

  /** Browsers ask for it by themselves. */
  @Get('favicon.ico')
  @HttpCode(204)
  icon(): void {
    // There is none.
  }

  @Get('console.js')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return CONSOLE_SCRIPT;
  }
}
