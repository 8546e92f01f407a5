import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CATEGORY_KEYS, type CategoryKey } from '../../../assets/domain/asset-category';
import { MapInvalid, type RecordMap } from '../../domain/maps/record-map';
import { type MapFile, readMapFile } from './map-file';
import { type MapSource, recordMap } from './record-map.system';

/** The ready maps stand beside their pages, which images hold too. */
const READY = join(dirname(require.resolve('#package')), 'docs', 'sources');
/** Maps of the demo's company, which change ready ones. */
const OF_DEMO = join(READY, 'demo');
const EXTENSION = /\.ya?ml$/i;
const EXTENSIONS = ['.yaml', '.yml'];

interface ListedMap {
  readonly name: string;
  readonly description: string | null;
  /** Null where an expression decides. */
  readonly category: CategoryKey | null;
}

/** Finds maps by name in a directory of the operator's and among the ready ones, or by file. */
export class MapLibrary {
  /** @throws {@link MapInvalid} for what is no directory */
  constructor(
    private readonly directory: string | null = null,
    /** Files are named from here. */
    private readonly caller = '',
  ) {
    if (directory === null || statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
    throw new MapInvalid([`${directory} is not a directory.`]);
  }

  static ofDemo(): MapLibrary {
    return new MapLibrary(OF_DEMO);
  }

  /** Lists all maps that have a name. @throws {@link MapInvalid} */
  list(): ListedMap[] {
    const folders = this.directory === null ? [READY] : [this.directory, READY];
    const names = new Set(folders.flatMap(namesIn));
    return [...names].sort().map((name) => {
      const { description, category } = this.source(name);
      return { name, description, category: CATEGORY_KEYS.find((key) => key === category?.text) ?? null };
    });
  }

  /** Returns the YAML of a map as it is. @throws {@link MapInvalid} when there is none */
  show(named: string): { readonly name: string; readonly yaml: string } {
    const { yaml } = this.read(named);
    return { name: nameOf(named), yaml };
  }

  /** Loads a map with all that it extends, ready for use. @throws {@link MapInvalid} */
  load(named: string): RecordMap {
    return recordMap(this.source(named));
  }

  private source(named: string): MapSource {
    const chain = [this.read(named)];
    for (let file = chain[0] as MapFile; file.extends !== null; file = chain.at(-1) as MapFile) {
      const base = this.read(file.extends.text ?? '', file);
      if (chain.some((known) => known.file === base.file)) {
        const names = [...chain, base].map((known) => basename(known.file));
        throw new MapInvalid([`${file.file}:${file.extends.line}: extends: ${names.join(' extends ')}, in a circle.`]);
      }
      chain.push(base);
    }
    const last = <Member extends 'description' | 'items' | 'category'>(member: Member) =>
      chain.find((file) => file[member] !== null)?.[member] ?? null;
    const record = new Map([...chain].reverse().flatMap((file) => [...file.record]));
    return {
      ...{ name: nameOf(named), files: chain.map(({ file }) => file), record },
      ...{ description: last('description'), items: last('items'), category: last('category') },
    };
  }

  /** Reads the map that another one names, or that the operator names. */
  private read(named: string, from: MapFile | null = null): MapFile {
    const isFile = EXTENSION.test(named) || named.includes(sep);
    const beside = from === null ? null : dirname(from.file);
    const found = isFile
      ? resolve(beside ?? this.caller, named)
      : [beside, this.directory, READY]
          .filter((folder) => folder !== null)
          .flatMap((folder) => EXTENSIONS.map((extension) => resolve(folder, `${named}${extension}`)))
          // A map of the operator's may have the name of the ready one that it extends.
          .find((path) => path !== from?.file && isFileAt(path));
    const place = from === null ? '' : `${from.file}:${from.extends?.line}: extends: `;
    if (found === undefined || !isFileAt(found)) {
      throw new MapInvalid([`${place}There is no map ${named}. "admin maps list" names the ready ones.`]);
    }
    return readMapFile(found, readFileSync(found, 'utf8'));
  }
}

const isFileAt = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const nameOf = (named: string): string => basename(named).replace(EXTENSION, '');

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => EXTENSION.test(file))
    .map(nameOf);
