export { OPERATOR_NAME_RULE, isOperatorName } from './operator-name';
export { createOnce, readSecretFileSync } from './secret-file';
export { API_VERSION, SERVICE_VERSION } from './service-version';
export { Settings, SettingsInvalid, isSet, loadSettings, loadSettingsWithoutDatabase } from './settings';
export { meaningOf, settingsSchema } from './settings-schema';
