import { loadSettings } from '#libs/platform/config';
import { LocalConsole } from './local-console';

describe('The console of npm start', () => {
  it.each([
    ['CONSOLE_PORT', { PORT: '3001' }],
    ['CONSOLE_PORT', { MANAGEMENT_PORT: '3001' }],
    ['CONSOLE_MANAGEMENT_PORT', { PORT: '9091' }],
    ['CONSOLE_MANAGEMENT_PORT', { MANAGEMENT_PORT: '9091' }],
  ])('does not run when %s is a port of the API: %j', async (setting, ports) => {
    const settings = loadSettings({ DATABASE_URL: 'postgres://a@b/c', ...ports });

    const said = await new LocalConsole().serve({}, settings, 'postgres://console@b/c', null);

    expect(said).toBe(`does not run: ${setting} is a port of the API; set another.`);
  });
});
