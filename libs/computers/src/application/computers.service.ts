import { Injectable } from '@nestjs/common';
import type { AssetId, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Computer } from '../domain/computer';
import type { ComputerFilter } from '../domain/computer-filter';
import { ComputerDirectory } from '../domain/computer-directory.port';
import { ComputerNotFound } from '../domain/computer-not-found';

@Injectable()
export class ComputersService {
  constructor(private readonly computers: ComputerDirectory) {}

  async list(
    workspaceId: WorkspaceId,
    filter: ComputerFilter,
    page: PageRequest,
    freshness: Freshness,
  ): Promise<Page<Computer>> {
    return this.computers.list(workspaceId, filter, page, freshness);
  }

  /** Returns the function that reads the whole list page by page, always as it is now. */
  reader(workspaceId: WorkspaceId, filter: ComputerFilter): (page: PageRequest) => Promise<Page<Computer>> {
    return (page) => this.computers.list(workspaceId, filter, page, 'newest');
  }

  /** @throws `not_found` */
  async get(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness): Promise<Computer> {
    const computer = await this.computers.find(workspaceId, id, freshness);
    if (!computer) throw new ComputerNotFound();
    return computer;
  }
}
