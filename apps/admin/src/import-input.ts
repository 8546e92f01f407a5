import { Option } from 'commander';
import type { Format, MapLibrary, RecordMap } from '#libs/inventory/operators';
import { fromCaller } from './options';

/** Written out, so that help loads no library. The type checks that the list is complete. */
const FORMATS = Object.keys({ ndjson: true, json: true, csv: true } satisfies Record<Format, true>);

export const formatOption = (): Option =>
  new Option('--format <format>', 'the format of the files (default: told by name and first bytes)').choices(FORMATS);

export const mapsOption = (): Option =>
  new Option('--maps <dir>', 'look for maps in this directory before the ready ones');

export const inputFrom = (file: string): string => (file === '-' ? file : fromCaller(file));

/** Loads a map. @throws before anything is read, with every fault of the map */
export async function mapOf(named: string, directory: string | undefined): Promise<RecordMap> {
  return (await mapLibrary(directory)).load(named);
}

/** The ready maps, and those of a directory before them. */
export async function mapLibrary(directory: string | undefined): Promise<MapLibrary> {
  const { MapLibrary } = await import('#libs/inventory/operators');
  return new MapLibrary(directory === undefined ? null : fromCaller(directory), fromCaller(''));
}
