import { Injectable } from '@nestjs/common';
import { Applications } from '#libs/auth/operators';
import { AssetsService } from '#libs/inventory';
import { type WorkspaceId, assetId, isUuid, newestOf, personIdIn } from '#libs/kernel';
import { MAX_PAGE_BYTES } from '#libs/platform/pagination';
import { People } from '../typeorm/people';

/** Names by id. */
export type NameOf = ReadonlyMap<unknown, string>;

/** Gives the names of people, applications and assets, where audit and history have ids. */
@Injectable()
export class Names {
  constructor(
    private readonly people: People,
    private readonly applications: Applications,
    private readonly assets: AssetsService,
  ) {}

  /**
   * The names behind these ids, client ids and names of authors, as far as the assets are visible and fit into a page. An
   * asset has up to a megabyte of tags, and pages of others wait for those who read a thousand.
   */
  async of(workspaceId: WorkspaceId, named: readonly unknown[]): Promise<NameOf> {
    const texts = [...new Set(named)].flatMap((one) => (typeof one === 'string' ? (personIdIn(one) ?? one) : []));
    const ids = texts.filter(isUuid).map(assetId);
    const page = { size: ids.length, after: null, mostBytes: MAX_PAGE_BYTES };
    const [people, applications, found] = await Promise.all([
      this.people.list(workspaceId, ids),
      this.applications.namesOf(workspaceId, texts),
      ids.length === 0 ? null : this.assets.list(newestOf(workspaceId), { ids }, page),
    ]);
    return new Map<unknown, string>([
      ...applications,
      ...[...people, ...(found?.items ?? [])].map(({ id, name }) => [id, name ?? '(erased)'] as const),
    ]);
  }
}

/** Names the operator or person, null where none is known. The kind comes first, so no chosen name looks like another kind. */
export function authorText(who: string | null, nameOf: NameOf): string | null {
  const personId = personIdIn(who);
  if (personId !== null) return `person ${nameOf.get(personId) ?? '(gone)'}`;
  return who === null ? null : `operator ${who}`;
}

/** Names an author, as audit and history record it. */
export function actorText(type: string, clientId: string | null, who: string | null, nameOf: NameOf): string {
  if (clientId !== null) return `application ${nameOf.get(clientId) ?? clientId}`;
  const author = authorText(who, nameOf);
  if (type === 'IMPORT') return author === null ? 'import' : `import by ${author}`;
  return author ?? 'operator';
}
