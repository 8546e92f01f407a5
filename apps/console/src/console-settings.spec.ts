import { loadConsoleSettings } from './console-settings';

describe('The settings of the console', () => {
  it('are refused with every fault at once', async () => {
    const faults = [
      ...['SIGNING_KEYS_DIR is required', 'SECRET_PEPPER_FILE is required', 'AUDIT_KEY_FILE is required'],
      ...['CONSOLE_DATABASE_URL is required', 'CONSOLE_OIDC_ISSUER and its client are'],
      'CONSOLE_URL must be an https',
    ];

    const refused = await loadConsoleSettings({ NODE_ENV: 'production' }).catch((error: Error) => error);

    for (const fault of faults) expect(refused).toHaveProperty('message', expect.stringContaining(fault));
  });
});
