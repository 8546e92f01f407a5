export { API_VERSION } from './api-version';
export { OPERATOR_NAME_RULE, isOperatorName } from './operator-name';
export { createOnce, readSecretFileSync } from './secret-file';
export { SERVICE_VERSION } from './service-version';
export { Settings, SettingsInvalid, isSet, loadSettings, loadSettingsWithoutDatabase } from './settings';
export { meaningOf, settingsSchema } from './settings-schema';
export { SystemClock } from './system-clock';
