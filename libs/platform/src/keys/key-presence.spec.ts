import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFifo } from '../../../../test/support/fifo';
import { assertKeysReadable } from './key-presence';
import { SettingsInvalid, loadSettings } from '../config/settings';

describe('Keys that the settings name', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const at = (name: string): string => join(directory, name);
  const faults = (): readonly string[] => {
    try {
      assertKeysReadable(
        loadSettings({
          DATABASE_URL: 'postgres://api@db/compliance',
          ...{ SIGNING_KEYS_DIR: at('signing'), CURSOR_KEYS_FILE: at('cursor.json') },
          ...{ SECRET_PEPPER_FILE: at('pepper'), AUDIT_KEY_FILE: at('audit') },
        }),
      );
      return [];
    } catch (error) {
      if (error instanceof SettingsInvalid) return error.faults;
      throw error;
    }
  };

  it('are each reported missing by the name of their setting', () => {
    expect(faults()).toEqual([
      `SIGNING_KEYS_DIR names ${at('signing')}, which does not exist; run: admin keys init`,
      `CURSOR_KEYS_FILE names ${at('cursor.json')}, which does not exist; run: admin keys init`,
      `SECRET_PEPPER_FILE names ${at('pepper')}, which does not exist; run: admin keys init`,
      `AUDIT_KEY_FILE names ${at('audit')}, which does not exist; run: admin keys init`,
    ]);
  });

  it('are refused when they are of the wrong kind or hardly secret', () => {
    writeFileSync(at('signing'), '');
    for (const name of ['cursor.json', 'pepper']) mkdirSync(at(name));
    writeFileSync(at('audit'), 'x'.repeat(31));
    expect(faults()).toEqual([
      `SIGNING_KEYS_DIR names ${at('signing')}, which cannot be read (ENOTDIR)`,
      `CURSOR_KEYS_FILE names ${at('cursor.json')}, which cannot be read (EISDIR)`,
      `SECRET_PEPPER_FILE names ${at('pepper')}, which cannot be read (EISDIR)`,
      `AUDIT_KEY_FILE names ${at('audit')}, which holds less than 32 bytes`,
    ]);
  });

  it('are refused when they are named pipes, which nobody may ever write to', () => {
    mkdirSync(at('signing'));
    for (const name of ['cursor.json', 'pepper', 'audit']) makeFifo(at(name));
    expect(faults()).toEqual([
      `CURSOR_KEYS_FILE names ${at('cursor.json')}, which cannot be read (not a regular file)`,
      `SECRET_PEPPER_FILE names ${at('pepper')}, which cannot be read (not a regular file)`,
      `AUDIT_KEY_FILE names ${at('audit')}, which cannot be read (not a regular file)`,
    ]);
  });

  it('are refused when the pepper is too weak', () => {
    mkdirSync(at('signing'));
    for (const name of ['cursor.json', 'audit']) writeFileSync(at(name), 'x'.repeat(44));
    writeFileSync(at('pepper'), '\n');
    expect(faults()).toEqual([`SECRET_PEPPER_FILE names ${at('pepper')}, which holds less than 16 bytes`]);
  });

  it('are accepted when all exist', () => {
    mkdirSync(at('signing'));
    for (const name of ['cursor.json', 'pepper', 'audit']) writeFileSync(at(name), 'x'.repeat(44));
    expect(faults()).toEqual([]);
  });
});
