import { DomainError, ValidationFailed } from '#libs/kernel';

/** The asset is unknown, hidden, deleted or another workspace's. Clients cannot tell these apart. */
export class AssetNotFound extends DomainError {
  constructor() {
    super('not_found', 'No asset has this id.');
  }
}

export class SubKeyInconsistent extends ValidationFailed {
  constructor() {
    super([{ parameter: 'subKey', code: 'choice', detail: 'subKey does not belong to categoryKey.' }]);
  }
}

/** Employees are read-only here: another system owns them. */
export class AssetNotWritable extends DomainError {
  constructor(ids: readonly string[]) {
    super('resource_not_writable', `Employees cannot be updated: ${ids.slice(0, 5).join(', ')}. Nothing was applied.`);
  }
}

/** The asset has changed since the client read it. */
export class AssetChangedMeanwhile extends DomainError {
  constructor() {
    super('precondition_failed', 'The asset has another version than If-Match names.');
  }
}
