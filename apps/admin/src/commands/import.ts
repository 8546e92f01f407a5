import { Command, Option } from 'commander';
import type { Format, ImportReport } from '#libs/inventory/operators';
import { CommandFailed, WrongUsage } from '../command-faults';
import { ErrorFile } from '../error-file';
import { formatOption, inputFrom, mapOf, mapsOption } from '../import-input';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, fromCaller, parseSlug, parseSource } from '../options';
import { card, print } from '../output';
import { faultLine } from '../fault-line';
import { visibleText } from '../visible-text';

interface ImportCommandOptions extends CommonOptions {
  readonly workspace: string;
  readonly source: string;
  readonly dryRun?: boolean;
  readonly missing: 'keep' | 'hide';
  readonly hideAtMost?: string;
  readonly errors?: string;
  readonly createTagKeys?: 'platform';
  readonly rekeyBy?: 'serialNumber';
  readonly map?: string;
  readonly maps?: string;
  readonly format?: Format;
  readonly strict?: boolean;
}

const MEGABYTE = 1_000_000;
/** Maximum number of errors, and of warnings, shown to people. `--errors` keeps all errors. */
const SHOWN_ERRORS = 20;

export function importCommand(): Command {
  return withWriteOptions(new Command('import'))
    .description('import assets into a workspace, matched by source and externalId')
    .argument('<file...>', 'NDJSON or CSV, one record a line, or what --map reads; - is standard input')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--source <name>', 'the system that the records come from, 1 to 100 bytes', parseSource)
    .option('--map <name|file>', 'read what a tool exports by this map; "maps list" shows the ready ones')
    .addOption(mapsOption())
    .addOption(formatOption())
    .option('--dry-run', 'report the result without writing anything')
    .addOption(
      new Option('--missing <what>', 'what to do with assets of the source that the files do not name')
        .choices(['keep', 'hide'])
        .default('keep'),
    )
    .option(
      '--hide-at-most <number or percent>',
      'with --missing hide: the most assets to hide, as 50 or 10% (default: 20%, or 19 assets)',
    )
    .option('--strict', 'make each warning an error of its record')
    .addOption(
      new Option(
        '--rekey-by <member>',
        'a new computer with the serial number of one that the files no longer name is that asset',
      ).choices(['serialNumber']),
    )
    .option('--errors <file>', 'write bad lines to this file; mend or delete them, then import the file')
    .addOption(
      new Option('--create-tag-keys <kind>', 'create missing tag keys as keys managed by the platform').choices([
        'platform',
      ]),
    )
    .action(importFiles);
}

async function importFiles(named: string[], options: ImportCommandOptions): Promise<void> {
  const files = named.map(inputFrom);
  if (options.format === 'json' && options.map === undefined) {
    throw new WrongUsage('A JSON document needs a map: give --map. "admin maps list" shows the ready ones.');
  }
  if (options.hideAtMost !== undefined && options.missing !== 'hide') {
    throw new WrongUsage('--hide-at-most needs --missing hide.');
  }
  const map = options.map === undefined ? null : await mapOf(options.map, options.maps);
  const errorsPath = options.errors === undefined ? null : fromCaller(options.errors);
  if (errorsPath !== null) ErrorFile.refuse(errorsPath, [...files, ...(map?.files ?? [])]);
  const { operateIn } = await import('../operator.js');
  const { ImportsService, InventoryOperatorModule, HIDE_LIMIT_RULE, parseHideLimit } =
    await import('#libs/inventory/operators');
  const hideAtMost = options.hideAtMost === undefined ? null : parseHideLimit(options.hideAtMost);
  if (options.hideAtMost !== undefined && hideAtMost === null) {
    throw new WrongUsage(`--hide-at-most: ${HIDE_LIMIT_RULE}`);
  }
  const report = await operateIn(options.workspace, [InventoryOperatorModule], async (operator, { id }) => {
    const errors = errorsPath === null ? null : new ErrorFile(errorsPath);
    try {
      const imported = await operator.withProgress('records', (show) =>
        operator.get(ImportsService).run(id, {
          source: options.source,
          files,
          dryRun: options.dryRun ?? false,
          missing: options.missing,
          hideAtMost,
          createTagKeys: options.createTagKeys ?? null,
          strict: options.strict ?? false,
          rekeyBy: options.rekeyBy ?? null,
          map,
          format: options.format ?? null,
          onProgress: ({ read, warned, bytesRead, bytesTotal }) =>
            show(
              read,
              bytesTotal === null ? null : bytesTotal === 0 ? 1 : bytesRead / bytesTotal,
              `, ${(bytesRead / MEGABYTE).toFixed(1)} MB${warned > 0 ? `, ${warned.toLocaleString('en')} with a warning` : ''}`,
            ),
          ...(errors && { onBadLine: (line) => errors.add(line) }),
        }),
      );
      errors?.complete();
      return imported;
    } finally {
      errors?.close();
    }
  });
  await print({ json: reportJson(report), text: () => describe(report, options) }, options);
  const faults = [
    report.failed > 0 ? `Bad lines: ${report.failed} of ${report.read}.` : null,
    report.hidingRefused ? `Nothing was hidden. ${report.hiddenWhy}` : null,
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new CommandFailed(faults.join(' '));
}

/** Without the member that only the exit code needs. */
export function reportJson({ hidingRefused: _exitCode, ...json }: ImportReport): Omit<ImportReport, 'hidingRefused'> {
  return json;
}

async function describe(report: ImportReport, options: ImportCommandOptions): Promise<string> {
  const { read, skipped, created, updated, unchanged, hidden, failed, warned, errors, warnings, dryRun, rekeyed } =
    report;
  const { hiddenWhy, newSource } = report;
  const shown = errors.slice(0, SHOWN_ERRORS).map((error) => faultLine(error, 'error'));
  if (failed > SHOWN_ERRORS) {
    shown.push(
      `… and ${failed - SHOWN_ERRORS} more${options.errors === undefined ? '; --errors FILE keeps them all' : ''}`,
    );
  }
  shown.push(...warnings.slice(0, SHOWN_ERRORS).map((warning) => faultLine(warning, 'warning')));
  if (warned > SHOWN_ERRORS) shown.push(`… and ${warned - SHOWN_ERRORS} more warnings`);
  const heading = dryRun ? ['A dry run: nothing was written.'] : [];
  if (newSource) heading.push(`The source "${visibleText(options.source)}" is new in this workspace.`);
  if (hiddenWhy !== null) shown.unshift(`Nothing was hidden. ${hiddenWhy}`);
  return [
    ...heading,
    await card({
      read,
      ...(skipped > 0 && { skipped }),
      created,
      updated,
      unchanged,
      hidden,
      failed,
      ...(warned > 0 && { warned }),
      ...(rekeyed > 0 && { rekeyed }),
    }),
    ...shown,
  ].join('\n');
}
