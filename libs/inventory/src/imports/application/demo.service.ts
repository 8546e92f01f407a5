import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { DEMO_SIZES, DEMO_SOURCE, DEMO_TAG_KEYS, type DemoSize, demoInventory } from '../domain/demo-inventory';
import type { InputLine } from '../domain/import-files.port';
import type { ImportReport } from '../domain/import-report';
import { TagKeyRepository } from '../../tag-keys/domain/tag-key-repository.port';
import { ImportsService } from './imports.service';

/** Fills a workspace with a realistic inventory through the normal import. */
@Injectable()
export class DemoService {
  constructor(
    private readonly imports: ImportsService,
    private readonly tagKeys: TagKeyRepository,
  ) {}

  /** May be repeated: existing assets stay unchanged. */
  async load(
    workspaceId: WorkspaceId,
    size: DemoSize,
    onProgress: (progress: { readonly done: number; readonly total: number }) => void = () => undefined,
  ): Promise<ImportReport> {
    for (const { key, value } of DEMO_TAG_KEYS) {
      await this.tagKeys.create(workspaceId, { key, value, platform: false });
    }
    const options = {
      source: DEMO_SOURCE,
      files: [],
      dryRun: false,
      missing: 'keep',
      createTagKeys: 'platform',
    } as const;
    return this.imports.runLines(workspaceId, options, demoLines(size), (done) =>
      onProgress({ done, total: DEMO_SIZES[size] }),
    );
  }
}

function* demoLines(size: DemoSize): Generator<InputLine> {
  let line = 0;
  for (const value of demoInventory(size)) yield { fileIndex: 0, line: (line += 1), value };
}
