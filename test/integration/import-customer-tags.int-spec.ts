import { ImportSetting, RECORDS } from '../support/import-setting';

describe('An import', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  it('warns of values of customer tags, which keep those of their keys', async () => {
    await setting.tagKeys.create(setting.here, { key: 'team', value: null, platform: false });
    const tagged = (externalId: string, env: string | null, team: string | null) => ({
      ...{ ...RECORDS, externalId },
      tags: [
        { key: 'env', value: env },
        { key: 'team', value: team },
        { key: 'aws:stack', value: 'prod' },
      ],
    });
    const input = setting.ndjson(tagged('a', 'production', ''), tagged('b', 'test', null), tagged('c', 'test', 'it'));

    const report = await setting.run(input);
    const strict = await setting.run(input, { strict: true });

    const reasons = [
      'tags: the customer key "env" has its own value; another was left out.',
      'tags: the customer keys "env", "team" have their own values; others were left out.',
    ];
    const found = reasons.map((reason, index) => ({ line: index + 2, reason }));
    expect(report).toMatchObject({ created: 3, warned: 2, warnings: found });
    expect(strict).toMatchObject({ unchanged: 1, failed: 2, errors: found });
  });
});
