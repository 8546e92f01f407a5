import { writeText } from './inventory-file';

const DAY_MS = 86_400_000;
const LAST_SYNC = Date.parse('2026-11-20T05:11:09Z');

const addressOf = (employee: number): string => `employee-${employee}@example.com`;

/** Writes employees as NDJSON, in the import format. */
export async function writeEmployees(path: string, employees: number): Promise<void> {
  await writeText(
    path,
    recordsOf(employees, (n) => `${JSON.stringify(employeeOf(n))}\n`),
  );
}

/** Writes devices as one JSON document, as Intune lists them: some 1,000 bytes each. Each belongs to an employee. */
export async function writeDevices(path: string, devices: number, employees: number): Promise<void> {
  await writeText(path, documentOf(recordsOf(devices, (n) => JSON.stringify(deviceOf(n, n % employees)))));
}

function* recordsOf(count: number, text: (n: number) => string): Generator<string> {
  for (let n = 0; n < count; n += 1) yield text(n);
}

function* documentOf(records: Iterable<string>): Generator<string> {
  let before =
    '{"@odata.context":"https://graph.microsoft.com/v1.0/$metadata#deviceManagement/managedDevices","value":[';
  for (const record of records) {
    yield `${before}${record}`;
    before = ',';
  }
  yield ']}';
}

const employeeOf = (n: number): Record<string, unknown> => ({
  categoryKey: 'EMPLOYEE',
  externalId: `hr-${n}`,
  name: `Employee ${n}`,
  email: addressOf(n),
});

/** Has the members of Microsoft Graph's `managedDevice` that tools usually ask for. The map reads a third of them. */
function deviceOf(n: number, employee: number): Record<string, unknown> {
  const serial = `PF${String(n).padStart(8, '0')}`;
  return {
    id: `0a000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    userId: `0b000000-0000-4000-8000-${String(employee).padStart(12, '0')}`,
    deviceName: `LAPTOP-${n}`,
    managedDeviceOwnerType: 'company',
    enrolledDateTime: new Date(LAST_SYNC - (n % 700) * DAY_MS).toISOString(),
    lastSyncDateTime: new Date(LAST_SYNC - (n % 30) * 3_600_000).toISOString(),
    operatingSystem: n % 4 === 0 ? 'macOS' : 'Windows',
    complianceState: 'compliant',
    jailBroken: 'Unknown',
    managementAgent: 'mdm',
    osVersion: n % 4 === 0 ? '15.1 (24B83)' : '10.0.26100.2314',
    easActivated: true,
    easDeviceId: serial,
    azureADRegistered: true,
    azureADDeviceId: `0c000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    deviceEnrollmentType: 'windowsAzureADJoin',
    deviceRegistrationState: 'registered',
    emailAddress: addressOf(employee),
    userPrincipalName: addressOf(employee),
    userDisplayName: `Employee ${employee}`,
    deviceCategoryDisplayName: 'Unknown',
    model: n % 4 === 0 ? 'MacBook Air' : 'ThinkPad X1',
    manufacturer: n % 4 === 0 ? 'Apple' : 'LENOVO',
    serialNumber: serial,
    isEncrypted: n % 10 > 0,
    isSupervised: false,
    totalStorageSpaceInBytes: 511_101_108_224,
    freeStorageSpaceInBytes: 200_000_000_000 + n,
    ethernetMacAddress: null,
    wiFiMacAddress: null,
    notes: null,
  };
}
