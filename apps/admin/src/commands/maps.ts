import { Command, InvalidArgumentError } from 'commander';
import type { Format } from '#libs/inventory/operators';
import { CommandFailed } from '../command-faults';
import { formatOption, inputFrom, mapLibrary, mapOf, mapsOption } from '../import-input';
import { type CommonOptions, withCommonOptions } from '../options';
import { print, table } from '../output';
import { visibleText } from '../visible-text';

interface MapsOptions extends CommonOptions {
  readonly maps?: string;
}

interface TryOptions extends MapsOptions {
  readonly limit: number;
  readonly format?: Format;
}

export function mapsCommand(): Command {
  const group = new Command('maps').description('maps, which turn what a tool exports into records');
  withMapsOptions(group.command('list')).description('list the maps that have a name').action(list);
  withMapsOptions(group.command('show')).description('print a map').argument('<name|file>', 'the map').action(show);
  withMapsOptions(group.command('try'))
    .description('show the records that an import would make of the files; needs no database')
    .argument('<name|file>', 'the map')
    .argument('<input...>', 'what the tool exports; - is standard input')
    .option('--limit <count>', 'show so many records', parseLimit, 3)
    .addOption(formatOption())
    .action(tryMap);
  return group;
}

const withMapsOptions = (command: Command): Command => withCommonOptions(command).addOption(mapsOption());

async function list(options: MapsOptions): Promise<void> {
  const items = (await mapLibrary(options.maps)).list();
  const rows = items.map(({ name, category, description }) => [name, category ?? 'by item', description]);
  await print({ json: { items }, text: () => table(['name', 'category', 'description'], rows) }, options);
}

async function show(named: string, options: MapsOptions): Promise<void> {
  const map = (await mapLibrary(options.maps)).show(named);
  await print({ json: map, text: () => map.yaml }, options);
}

async function tryMap(named: string, inputs: readonly string[], options: TryOptions): Promise<void> {
  const map = await mapOf(named, options.maps);
  const { ImportFilesSystem, MapTrial } = await import('#libs/inventory/operators');
  const trial = new MapTrial(new ImportFilesSystem());
  const { unset, ...json } = await trial.run(map, inputs.map(inputFrom), options.format ?? null, options.limit);
  const { items, skipped, failed, errors } = json;
  const text = (): string =>
    [
      ...items.map((item) => JSON.stringify(item, null, 2)),
      `${skipped} skipped, ${failed} failed`,
      ...(skipped > 0 && items.length + failed === 0 ? ['The category of the map leaves every item out.'] : []),
      ...(unset.length > 0 ? [`No record has ${unset.join(', ')}: look at their expressions.`] : []),
      ...errors.map(({ file, line, reason }) => `${file === undefined ? '' : `${file}, `}item ${line}: ${reason}`),
    ]
      .flatMap((part) => part.split('\n'))
      .map(visibleText)
      .join('\n');
  await print({ json, text }, options);
  if (failed > 0) throw new CommandFailed(`${failed} items give no record.`);
}

function parseLimit(value: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('A limit is a number from 1 to 999999.');
}
