// `npm run settings`: writes the tables of docs/settings.md from the schema of the settings.
import { writeFileSync } from 'node:fs';
import { SETTINGS_PAGE, settingsPage } from './settings-page';

writeFileSync(SETTINGS_PAGE, settingsPage());
