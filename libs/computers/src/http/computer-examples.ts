import { example } from '#libs/platform/openapi';
import type { ComputerChangePageDto } from './computer-change.dto';
import type { ComputerHistoryPageDto } from './computer-history.dto';
import type { ComputerDto, ComputerPageDto } from './computer.dto';

const LAPTOP: ComputerDto = {
  id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14',
  name: 'ada-mbp',
  operatingSystem: 'macOS',
  osVersion: '15.1',
  serialNumber: 'C02XK',
  ownerId: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  isMonitored: true,
  lastCheckedAt: '2026-11-01T00:00:00.000Z',
  updatedAt: '2026-11-02T08:00:00.000Z',
  source: 'mdm',
  tags: [{ key: 'env', value: 'office', readOnly: false }],
  compliance: {
    agentVersion: '2.4.0',
    antivirusInstalled: true,
    diskEncryptionEnabled: true,
    passwordManagerInstalled: null,
    screenLockEnabled: false,
  },
};

export const COMPUTER_EXAMPLES = { laptop: { summary: 'A monitored laptop', value: LAPTOP } };

export const COMPUTER_PAGE_EXAMPLES = {
  only: example<ComputerPageDto>('The only page', {
    results: [LAPTOP],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 1 },
  }),
};

export const COMPUTER_CHANGE_PAGE_EXAMPLES = {
  only: example<ComputerChangePageDto>('A change by an import, and nothing more for now', {
    results: [
      {
        type: 'UPSERTED',
        id: LAPTOP.id,
        changedAt: '2026-11-02T08:00:00.000Z',
        origin: { type: 'IMPORT' },
        computer: LAPTOP,
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: null },
    resumeCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
  }),
};

export const COMPUTER_HISTORY_EXAMPLES = {
  only: example<ComputerHistoryPageDto>('A screen lock was found to be off', {
    results: [
      {
        validFrom: '2026-11-02T08:00:00.123Z',
        validTo: null,
        origin: { type: 'IMPORT' },
        changedFields: ['compliance'],
        computer: LAPTOP,
      },
      {
        validFrom: '2026-10-01T06:00:00.000Z',
        validTo: '2026-11-02T08:00:00.123Z',
        origin: { type: 'IMPORT' },
        changedFields: [],
        computer: { ...LAPTOP, compliance: { ...LAPTOP.compliance, screenLockEnabled: true } },
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 2 },
  }),
};
