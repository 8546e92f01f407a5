import { DomainError, ValidationFailed } from '#libs/kernel';

/** Unknown, hidden, deleted or another workspace's: all alike. */
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
