// Generated from docs/contract/openapi.json by `npm run generate`; a test finds what was edited by hand.

export interface paths {
  '/.well-known/jwks.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the public keys
     * @description JSON Web Key Set (RFC 7517). Needs no token. RSA keys verify tokens. Ed25519 keys (RFC 8037) verify checkpoints of the audit. A new key appears here before it signs.
     */
    get: operations['getKeySet'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/.well-known/oauth-authorization-server': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Describe the authorization server
     * @description OAuth 2.0 Authorization Server Metadata (RFC 8414). Needs no token.
     */
    get: operations['getAuthorizationServer'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/.well-known/oauth-protected-resource': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Describe the API as a protected resource
     * @description OAuth 2.0 Protected Resource Metadata (RFC 9728). Needs no token. Every bearer challenge names its address as `resource_metadata`.
     */
    get: operations['getProtectedResource'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/oauth/token': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Issue an access token
     * @description OAuth 2.0 client credentials grant. An application has one active token, and a new token ends the previous one. So keep a token until it expires, and share it among all workers. Send the secret in the form or by HTTP Basic, not both. Or send an assertion that is signed with a key of the application (RFC 7523), and no secret. Errors are `application/json` if your `Accept` header names that and not `application/problem+json`.
     */
    post: operations['issueToken'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/audit-events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List audit events
     * @description Needs `audit:read` (or `all:read`). The events of the workspace in the order of their `sequence`, complete and a few seconds late. Keep `resumeCursor`, and ask again with it. `Accept: application/x-ndjson` returns the whole list as a stream of JSON lines; so do `application/ndjson`, `application/jsonl` and `application/x-jsonlines`. A stream takes no `pageSize`, and as `pageCursor` only one of a checkpoint line.
     */
    get: operations['listAuditEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/audit-events/checkpoint': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a signed checkpoint of the audit
     * @description Needs `audit:read` (or `all:read`). Returns the size and the root (RFC 9162) of the Merkle tree of the events, signed with a key of the key set (C2SP signed note). Keep it: whoever lists the events later finds any change below it. Events of the last seconds may not be in it yet.
     */
    get: operations['getAuditCheckpoint'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/computers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List computers with their posture
     * @description Needs `computers:read` (or `all:read`), and with `expand` also `inventory:read`. Returns every visible computer, monitored or not. All filters combine with AND. `Accept: application/x-ndjson` returns the whole list as a stream of JSON lines; so do `application/ndjson`, `application/jsonl` and `application/x-jsonlines`. A stream takes no `pageSize`, and as `pageCursor` only one of a checkpoint line.
     */
    get: operations['listComputers'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/computers/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get one computer
     * @description Needs `computers:read` (or `all:read`), and with `expand` also `inventory:read`. The id is the id of the COMPUTER asset.
     */
    get: operations['getComputer'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/computers/{id}/history': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the states of one computer
     * @description Needs `computers:read` (or `all:read`). Returns the states of the computer with its posture, newest first, each with who made it. Works for hidden and deleted computers too.
     */
    get: operations['listComputerHistory'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/computers/changes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Follow changes of computers
     * @description Needs `computers:read` (or `all:read`). Returns the latest state of each changed computer, in the order of changes. Without a cursor every visible computer comes first. Store `resumeCursor` and send it as `pageCursor` next time.
     */
    get: operations['listComputerChanges'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/computers/summary': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Count computers by day
     * @description Needs `computers:read` (or `all:read`). Returns counts of visible computers and of their checks for each day of the history from `from` to `to`; today alone without both.
     */
    get: operations['getComputerSummary'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check whether the API serves requests
     * @description Needs no token and has no rate limit. Use it to find out whether the API is reachable.
     */
    get: operations['getHealth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/assets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List assets
     * @description Needs `inventory:read` (or `all:read`). Returns the assets that match all filters. Hidden and deleted assets are left out. `Accept: application/x-ndjson` returns the whole list as a stream of JSON lines; so do `application/ndjson`, `application/jsonl` and `application/x-jsonlines`. A stream takes no `pageSize`, and as `pageCursor` only one of a checkpoint line.
     */
    get: operations['listAssets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the governance metadata of up to 100 assets
     * @description Needs `inventory:write` (or `all:write`). Applies one patch to every id (`ids` and `patch`, without tags), or a patch to each (`updates`), in one transaction. Ids without a visible asset are counted as failed, and so are assets that do not match `onlyIf`. If one id is an employee, nothing is applied. `If-Match` is refused.
     */
    patch: operations['updateAssets'];
    trace?: never;
  };
  '/v1/inventory/assets/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get one asset
     * @description Needs `inventory:read` (or `all:read`). The `ETag` header names the version of the asset. Send it as `If-Match` in an update. With `expand` or `asOf` there is no `ETag`.
     */
    get: operations['getAsset'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the governance metadata of one asset
     * @description Needs `inventory:write` (or `all:write`). Changes the owner, description, classification and customer tags of an asset that is not an employee. An owner set here reads `ownerSource: API`. No import overwrites what you set here.
     */
    patch: operations['updateAsset'];
    trace?: never;
  };
  '/v1/inventory/assets/{id}/history': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the states of one asset
     * @description Needs `inventory:read` (or `all:read`). Returns the states of the asset, newest first, each with who made it. Works for hidden and deleted assets too.
     */
    get: operations['listAssetHistory'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/categories': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List asset categories
     * @description Needs `inventory:read` (or `all:read`). Returns the categories and their labels, in a fixed order.
     */
    get: operations['listCategories'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/changes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Follow changes of assets
     * @description Needs `inventory:read` (or `all:read`). Returns the latest state of each changed asset, in the order of changes. Without a cursor every visible asset comes first. Store `resumeCursor` and send it as `pageCursor` next time.
     */
    get: operations['listAssetChanges'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/sources': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List sources and their freshness
     * @description Needs `inventory:read` (or `all:read`). Returns the import sources of the workspace, ordered by the code points of the name: each source with an asset, hidden ones included, or a recorded import. `lastImport` is the latest import, however it ended.
     */
    get: operations['listSources'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/summary': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Count assets by day
     * @description Needs `inventory:read` (or `all:read`). Returns counts of visible assets by category for each day of the history from `from` to `to`; today alone without both.
     */
    get: operations['getAssetSummary'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/inventory/tag-keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List tag keys
     * @description Needs `inventory:read` (or `all:read`). Returns the tag keys of the workspace, ordered by the code points of the key, each with the exact number of visible assets.
     */
    get: operations['listTagKeys'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get your application, its scopes and its limits
     * @description Needs any valid token. Returns the application and its workspace, the token and its scopes, and the limits with the tokens left in each bucket. The request takes one token from the read bucket.
     */
    get: operations['getMe'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description The one active token of the application. */
    AccessTokenResponse: {
      /**
       * @description Signed RS256 bearer token. Its content is not part of the contract: send it unchanged.
       * @example eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjaV8zZjlhIn0.c2lnbmF0dXJl
       */
      access_token: string;
      /**
       * @description Lifetime in seconds.
       * @example 3600
       */
      expires_in: number;
      /**
       * @description Scopes of the token, separated by spaces.
       * @example inventory:read inventory:write
       */
      scope: string;
      /**
       * @description Always `Bearer`.
       * @example Bearer
       */
      token_type: string;
    };
    /** @description An asset of the inventory. Every asset has every field; a field of another category, or an unknown value, is null. */
    Asset: {
      /**
       * @description CLOUD only: cloud account id. Null when unknown and for other categories.
       * @example null
       */
      accountId: string | null;
      /**
       * @description Top-level category.
       * @example CLOUD
       */
      categoryKey: components['schemas']['AssetCategoryKey'];
      /**
       * @description `UNKNOWN` when nobody classified the asset.
       * @example INTERNAL
       */
      classification: components['schemas']['Classification'];
      /**
       * @description `COMPLETE` exactly when the asset has an owner.
       * @example COMPLETE
       */
      completeStatus: components['schemas']['CompleteStatus'];
      /**
       * Format: date-time
       * @description Creation time, UTC.
       * @example 2026-01-02T03:04:05.000Z
       */
      createdAt: string;
      dataStored: components['schemas']['DataStored'];
      /**
       * @description Governance description; null when there is none.
       * @example Access logs of the public website
       */
      description: string | null;
      /**
       * @description EMPLOYEE only: the employee's e-mail address (personal data). Null when unknown and for other categories.
       * @example null
       */
      email: string | null;
      /**
       * @description Identifier of the asset in its source system.
       * @example arn:aws:s3:::access-logs
       */
      externalId: string;
      /**
       * Format: uuid
       * @description Id of the asset. For an EMPLOYEE asset, the id of the employee.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /**
       * Format: date-time
       * @description Last compliance check, UTC; null when there was none.
       * @example 2026-11-01T00:00:00.000Z
       */
      lastCheckedAt: string | null;
      /**
       * @description Display name.
       * @example access-logs
       */
      name: string;
      /**
       * @description COMPUTER only: operating system family and version, one space between. Null when unknown and for other categories.
       * @example null
       */
      osVersion: string | null;
      owner?: components['schemas']['Owner'];
      /**
       * Format: uuid
       * @description Id of the employee who owns the asset; null without an owner.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId: string | null;
      /**
       * @description Origin of the owner assignment; null without an owner. One of `MANUAL`, `API`, `INTEGRATION`, `RULE`; new values may be added, so accept any.
       * @example MANUAL
       */
      ownerSource: string | null;
      /**
       * @description CLOUD only: region or location. Null when unknown and for other categories.
       * @example null
       */
      region: string | null;
      /**
       * @description COMPUTER only: hardware serial number. Null when unknown and for other categories.
       * @example null
       */
      serialNumber: string | null;
      /**
       * @description Import source that `externalId` belongs to.
       * @example aws
       */
      source: string;
      /** @description Sorted by the code points of the key; empty without tags. */
      tags: components['schemas']['Tag'][];
      /**
       * @description Type within the category. One of `CLOUD_AUTOSCALE_GROUPS`, `CLOUD_COMPUTE_INSTANCE`, `CLOUD_CONTAINER_REPOSITORY`, `CLOUD_DATA_WAREHOUSE`, `CLOUD_LOAD_BALANCER`, `CLOUD_NO_SQL_DATABASE`, `CLOUD_PAAS_APPS`, `CLOUD_QUEUE`, `CLOUD_RELATIONAL_DATABASE`, `CLOUD_STORAGE_BUCKET`, `CLOUD_OTHER`, `COMPUTER`, `CUSTOM`, `INFORMATION`, `EMPLOYEE`; new values may be added, so accept any.
       * @example CLOUD_AUTOSCALE_GROUPS
       */
      type: string;
      /**
       * Format: date-time
       * @description Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.
       * @example 2026-11-02T08:00:00.000Z
       */
      updatedAt: string;
    };
    /** @description One of the top-level categories of the inventory. */
    AssetCategory: {
      /**
       * @description Human-readable label.
       * @example Cloud resources
       */
      displayLabel: string;
      /**
       * @description Stable category key.
       * @example CLOUD
       */
      key: components['schemas']['AssetCategoryKey'];
    };
    /**
     * @description Key of a top-level category.
     * @example CLOUD
     * @enum {string}
     */
    AssetCategoryKey: 'CLOUD' | 'COMPUTER' | 'CUSTOM' | 'INFORMATION' | 'EMPLOYEE';
    /** @description A page of categories. */
    AssetCategoryPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The categories of the page. */
      results: components['schemas']['AssetCategory'][];
    };
    /** @description The latest change of one asset. */
    AssetChange: {
      asset: components['schemas']['ChangedAsset'];
      /**
       * Format: date-time
       * @description Time of the commit, UTC. Changes of one transaction share it, and it never falls.
       * @example 2026-11-02T08:00:00.000Z
       */
      changedAt: string;
      /**
       * Format: uuid
       * @description Public id.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /** @description Who made the latest change. */
      origin: components['schemas']['ChangeOrigin'];
      /**
       * @description UPSERTED: store this state. REMOVED: hidden or deleted. One of `UPSERTED`, `REMOVED`; new values may be added, so accept any.
       * @example UPSERTED
       */
      type: string;
    };
    /** @description A page of changes of assets. */
    AssetChangePage: {
      /** @description Whether more changes follow. */
      pageInfo: components['schemas']['FeedPageInfo'];
      /** @description Changes in the order of their commits. */
      results: components['schemas']['AssetChange'][];
      /**
       * @description Cursor to go on from, now or later, as `pageCursor`. Always present; it does not expire.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      resumeCursor: string;
    };
    /** @description Counts of visible assets on one day. */
    AssetDay: {
      /** @description One entry for each category. */
      categories: components['schemas']['CategoryCounts'][];
      /**
       * Format: date
       * @description The day, UTC.
       * @example 2026-11-24
       */
      date: string;
      /**
       * @description True for a past day, which shows its last instant. False for today, which shows now.
       * @example true
       */
      isFinal: boolean;
    };
    /** @description One state of an asset. */
    AssetHistoryEntry: {
      asset: components['schemas']['ChangedAsset'];
      /**
       * @description Members that differ from the state before, without `updatedAt` and `lastCheckedAt`. Empty for the oldest state, for a hidden one and beside one.
       * @example [
       *       "completeStatus",
       *       "ownerId",
       *       "ownerSource"
       *     ]
       */
      changedFields: string[];
      origin: components['schemas']['HistoryOrigin'];
      /**
       * Format: date-time
       * @description When the change was committed that made this state, UTC: `changedAt` of the feed.
       * @example 2026-11-02T08:00:00.123Z
       */
      validFrom: string;
      /**
       * Format: date-time
       * @description When the next change ended it, UTC; null for the present state.
       * @example null
       */
      validTo: string | null;
    };
    /** @description A page of the states of an asset. */
    AssetHistoryPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The states, newest first. */
      results: components['schemas']['AssetHistoryEntry'][];
    };
    /** @description A line of a stream with an asset. */
    AssetLine: {
      /** @description The asset. */
      asset: components['schemas']['Asset'];
      /**
       * @description Type of the line.
       * @example asset
       */
      type: string;
    };
    /** @description The fields to change as a merge patch (RFC 7396), each optional. A null clears a field; an absent field stays as it is. Any other field is refused. `{}` changes nothing. */
    AssetMetadataMergePatch: {
      /**
       * @description Data classification.
       * @example INTERNAL
       */
      classification?: components['schemas']['Classification'] | null;
      /**
       * @description At most 500 Unicode code points; empty clears it.
       * @example Access logs of the public website
       */
      description?: string | null;
      /**
       * @description Instead of `ownerId`: the e-mail address of the one visible employee who has it. Letter case and white space around it do not matter. An address of nobody, or of several, is refused.
       * @example mei.tanaka@example.com
       */
      ownerEmail?: string | null;
      /**
       * Format: uuid
       * @description A visible employee of the workspace; any other id is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId?: string | null;
      /** @description The whole set of customer tags that you want. Missing tags are added, others are removed, tags of the platform stay. `[]` removes all customer tags. */
      tags?: components['schemas']['TagRequest'][] | null;
    };
    /** @description The fields to change, each optional. A field that is absent or null stays as it is. Any other field is refused. `{}` changes nothing. */
    AssetMetadataPatchRequest: {
      /**
       * @description Data classification.
       * @example INTERNAL
       */
      classification?: components['schemas']['Classification'] | null;
      /**
       * @description At most 500 Unicode code points; empty clears it.
       * @example Access logs of the public website
       */
      description?: string | null;
      /**
       * @description Instead of `ownerId`: the e-mail address of the one visible employee who has it. Letter case and white space around it do not matter. An address of nobody, or of several, is refused.
       * @example mei.tanaka@example.com
       */
      ownerEmail?: string | null;
      /**
       * Format: uuid
       * @description A visible employee of the workspace; any other id is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId?: string | null;
      /** @description The whole set of customer tags that you want. Missing tags are added, others are removed, tags of the platform stay. `[]` removes all customer tags. */
      tags?: components['schemas']['TagRequest'][] | null;
    };
    /** @description A page of assets. */
    AssetPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The assets of the page. */
      results: components['schemas']['Asset'][];
    };
    /**
     * @description Sub-type of assets; `CLOUD` stands for every cloud asset.
     * @example CLOUD
     * @enum {string}
     */
    AssetSubKey:
      | 'CLOUD'
      | 'CLOUD_AUTOSCALE_GROUPS'
      | 'CLOUD_COMPUTE_INSTANCE'
      | 'CLOUD_CONTAINER_REPOSITORY'
      | 'CLOUD_DATA_WAREHOUSE'
      | 'CLOUD_LOAD_BALANCER'
      | 'CLOUD_NO_SQL_DATABASE'
      | 'CLOUD_PAAS_APPS'
      | 'CLOUD_QUEUE'
      | 'CLOUD_RELATIONAL_DATABASE'
      | 'CLOUD_STORAGE_BUCKET'
      | 'CLOUD_OTHER'
      | 'COMPUTER'
      | 'CUSTOM'
      | 'INFORMATION'
      | 'EMPLOYEE';
    /** @description Counts of visible assets by day. */
    AssetSummary: {
      /** @description The days, oldest first. */
      results: components['schemas']['AssetDay'][];
    };
    /** @description Who acted. */
    AuditActor: {
      /**
       * @description Client id of the application; null where none acted.
       * @example ci_5f0c2e7d2a7c419a
       */
      clientId: string | null;
      /**
       * @description Name of the operator, or of whoever ran the import; null for an application. Absent in events from before names were recorded.
       * @example null
       */
      name?: string | null;
      /**
       * Format: uuid
       * @description Id of the person who used the console; null where nobody did. Absent in events from before names were recorded.
       * @example null
       */
      personId?: string | null;
      /**
       * @description APPLICATION: a request. OPERATOR: the platform’s operators. IMPORT: an import of theirs. PERSON: a person of the workspace who used the console. One of `APPLICATION`, `OPERATOR`, `IMPORT`, `PERSON`; new values may be added, so accept any.
       * @example APPLICATION
       */
      type: string;
    };
    /** @description One changed value. */
    AuditChange: {
      /**
       * @description Name of the field.
       * @example ownerId
       */
      field: string;
      /**
       * @description The value after: a text, an integer, a boolean, an array of texts or an object of texts; null where there is none.
       * @example PUBLIC
       */
      new: unknown;
      /**
       * @description The value before: a text, an integer, a boolean, an array of texts or an object of texts; null where there was none.
       * @example null
       */
      old: unknown;
    };
    /** @description One event of the audit. It never changes. */
    AuditEvent: {
      /**
       * @description What happened. One of `asset.updated`, `asset.rekeyed`, `history.erased`, `application.created`, `application.enabled`, `application.disabled`, `application.deleted`, `application.secret_rotated`, `application.secret_ended`, `application.secret_removed`, `application.key_added`, `application.key_removed`, `application.trust_added`, `application.trust_removed`, `application.trust_replaced`, `application.scopes_set`, `application.limits_set`, `person.added`, `person.signed_in`, `person.role_set`, `person.removed`, `person.erased`, `tag_key.created`, `tag_key.deleted`, `source.stale_after_set`, `import.completed`, `inventory.exported`, `audit.exported`; new values may be added, so accept any.
       * @example asset.updated
       */
      action: string;
      /** @description Who acted. */
      actor: components['schemas']['AuditActor'];
      /** @description The values that changed, sorted by field; tags are arrays of keys. */
      changes: components['schemas']['AuditChange'][];
      /**
       * Format: uuid
       * @description Id of the event.
       * @example 01a20add-a4f2-7313-a0d8-098be14f2340
       */
      id: string;
      /**
       * @description SHA-256 of the byte 0x00 and the RFC 8785 form of the event without this member, in lower-case hexadecimal.
       * @example e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
       */
      leafHash: string;
      /**
       * Format: date-time
       * @description When it happened, UTC, by the clock of the instance.
       * @example 2026-11-02T08:00:00.000Z
       */
      occurredAt: string;
      /**
       * Format: date-time
       * @description When the event got its sequence, UTC. It never falls while sequences grow.
       * @example 2026-11-02T08:00:04.120Z
       */
      recordedAt: string;
      /** @description The request that caused it. */
      request: components['schemas']['AuditRequest'];
      /**
       * Format: int64
       * @description Place in the audit of the workspace: it begins at 1 and has no gaps.
       * @example 4711
       */
      sequence: number;
      /** @description What it happened to. */
      target: components['schemas']['AuditTarget'];
    };
    /** @description A line of a stream with an audit event. */
    AuditEventLine: {
      /** @description The event. */
      event: components['schemas']['AuditEvent'];
      /**
       * @description What the line is.
       * @example event
       */
      type: string;
    };
    /** @description A page of audit events. */
    AuditEventPage: {
      /**
       * @description Age of the oldest event that is not in the list yet, in seconds, rounded up. 0 when there is none.
       * @example 0
       */
      lagSeconds: number;
      /** @description Whether more events follow. */
      pageInfo: components['schemas']['FeedPageInfo'];
      /** @description Events in the order of their sequence. */
      results: components['schemas']['AuditEvent'][];
      /**
       * @description Cursor to go on from, now or later, as `pageCursor`. Always present; it does not expire.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      resumeCursor: string;
    };
    /** @description The request that caused the event. */
    AuditRequest: {
      /**
       * @description `X-Request-Id` of the response; null where no request caused the event.
       * @example 6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10
       */
      id: string | null;
    };
    /** @description What it happened to. */
    AuditTarget: {
      /**
       * @description Id of the asset or person, client id of the application, the tag key, the import source, or the name of the list.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /**
       * @description The kind of the target. One of `ASSET`, `APPLICATION`, `TAG_KEY`, `IMPORT`, `INVENTORY`, `AUDIT`, `PERSON`; new values may be added, so accept any.
       * @example ASSET
       */
      type: string;
    };
    /** @description Authorization server metadata (RFC 8414, section 2). */
    AuthorizationServerMetadata: {
      /**
       * @description Grants of the token endpoint.
       * @example [
       *       "client_credentials"
       *     ]
       */
      grant_types_supported: string[];
      /**
       * Format: uri
       * @description Issuer of the tokens: the base URL of the API.
       * @example https://api.example.com
       */
      issuer: string;
      /**
       * Format: uri
       * @description Address of the public keys of tokens.
       * @example https://api.example.com/.well-known/jwks.json
       */
      jwks_uri: string;
      /**
       * @description The RFC requires this member. There is no authorization endpoint.
       * @example [
       *       "none"
       *     ]
       */
      response_types_supported: string[];
      /**
       * @description Every scope that an application can have.
       * @example [
       *       "all:read",
       *       "all:write",
       *       "audit:read",
       *       "computers:read",
       *       "inventory:read",
       *       "inventory:write",
       *       "frameworks:read"
       *     ]
       */
      scopes_supported: string[];
      /**
       * Format: uri
       * @description Documentation of the API.
       * @example https://api.example.com/docs
       */
      service_documentation: string;
      /**
       * Format: uri
       * @description Address of the token endpoint.
       * @example https://api.example.com/oauth/token
       */
      token_endpoint: string;
      /**
       * @description Ways in which a client can prove itself.
       * @example [
       *       "client_secret_basic",
       *       "client_secret_post",
       *       "private_key_jwt"
       *     ]
       */
      token_endpoint_auth_methods_supported: string[];
      /**
       * @description Algorithms of signed assertions.
       * @example [
       *       "RS256",
       *       "PS256",
       *       "ES256",
       *       "ES384",
       *       "EdDSA",
       *       "Ed25519"
       *     ]
       */
      token_endpoint_auth_signing_alg_values_supported: string[];
    };
    /** @description What an asset must be like to be changed. A member that is absent or null sets no condition. */
    BulkCondition: {
      /**
       * @description The classification.
       * @example UNKNOWN
       */
      classification?: components['schemas']['Classification'] | null;
      /**
       * @description Whether there is a description.
       * @example false
       */
      hasDescription?: boolean | null;
      /**
       * @description Whether an owner is set. An owner who is no longer a visible employee counts.
       * @example false
       */
      hasOwner?: boolean | null;
    } | null;
    /** @description One asset and its changes. */
    BulkEntry: {
      /**
       * Format: uuid
       * @description Id of the asset to update. An id that is given twice is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /** @description The changes of this asset. */
      patch: components['schemas']['AssetMetadataPatchRequest'];
    };
    /** @description One asset and its changes as a merge patch. */
    BulkMergeEntry: {
      /**
       * Format: uuid
       * @description Id of the asset to update. An id that is given twice is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /** @description The changes of this asset. */
      patch: components['schemas']['AssetMetadataMergePatch'];
    };
    /** @description The fields to change as a merge patch (RFC 7396), without tags. A null clears a field; an absent field stays as it is. */
    BulkMergePatch: {
      /**
       * @description Data classification.
       * @example INTERNAL
       */
      classification?: components['schemas']['Classification'] | null;
      /**
       * @description At most 500 Unicode code points; empty clears it.
       * @example Access logs of the public website
       */
      description?: string | null;
      /**
       * @description Instead of `ownerId`: the e-mail address of the one visible employee who has it. Letter case and white space around it do not matter. An address of nobody, or of several, is refused.
       * @example mei.tanaka@example.com
       */
      ownerEmail?: string | null;
      /**
       * Format: uuid
       * @description A visible employee of the workspace; any other id is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId?: string | null;
      /**
       * @description Must be absent or null: tags cannot be updated in bulk.
       * @example null
       */
      tags?: string | null;
    } | null;
    /** @description The fields to change, without tags. A field that is absent or null stays as it is. */
    BulkPatch: {
      /**
       * @description Data classification.
       * @example INTERNAL
       */
      classification?: components['schemas']['Classification'] | null;
      /**
       * @description At most 500 Unicode code points; empty clears it.
       * @example Access logs of the public website
       */
      description?: string | null;
      /**
       * @description Instead of `ownerId`: the e-mail address of the one visible employee who has it. Letter case and white space around it do not matter. An address of nobody, or of several, is refused.
       * @example mei.tanaka@example.com
       */
      ownerEmail?: string | null;
      /**
       * Format: uuid
       * @description A visible employee of the workspace; any other id is refused.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId?: string | null;
      /**
       * @description Must be absent or null: tags cannot be updated in bulk.
       * @example null
       */
      tags?: string | null;
    } | null;
    /** @description An asset that the update would change. */
    BulkUpdateChange: {
      /**
       * @description Its members that would change.
       * @example [
       *       "ownerId"
       *     ]
       */
      fields: string[];
      /**
       * Format: uuid
       * @description The id, in lower case.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
    };
    /** @description An id whose asset was not updated. */
    BulkUpdateFailure: {
      /**
       * @description The reason, for programs. One of `not_found`, `condition_failed`; new values may be added, so accept any.
       * @example not_found
       */
      code: string;
      /**
       * @description The reason, for people.
       * @example No asset has this id.
       */
      detail: string;
      /**
       * Format: uuid
       * @description The id, in lower case.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13
       */
      id: string;
    };
    /** @description Changes of up to 100 assets as merge patches (RFC 7396): `ids` with one `patch` for all, or `updates` with a patch for each. A null clears a field. Any other field is refused. */
    BulkUpdateMergePatch: {
      /**
       * @description True: checks the update and returns what would change, but writes nothing.
       * @example false
       */
      dryRun?: boolean | null;
      /** @description Ids of the assets to update. An id that is given twice counts once. Required without `updates`. */
      ids?: string[] | null;
      /** @description An asset that does not match when it is locked stays as it is, and counts as failed with `condition_failed`. */
      onlyIf?: components['schemas']['BulkCondition'];
      /** @description The change, the same for each asset. Required without `updates`. */
      patch?: components['schemas']['BulkMergePatch'];
      /** @description Instead of `ids` and `patch`: the assets to update, each with its own changes. */
      updates?: components['schemas']['BulkMergeEntry'][] | null;
    };
    /** @description Changes of up to 100 assets: `ids` with one `patch` for all, or `updates` with a patch for each. A field that is null stays as it is. Any other field is refused. */
    BulkUpdateRequest: {
      /**
       * @description True: checks the update and returns what would change, but writes nothing.
       * @example false
       */
      dryRun?: boolean | null;
      /** @description Ids of the assets to update. An id that is given twice counts once. Required without `updates`. */
      ids?: string[] | null;
      /** @description An asset that does not match when it is locked stays as it is, and counts as failed with `condition_failed`. */
      onlyIf?: components['schemas']['BulkCondition'];
      /** @description The change, the same for each asset. Required without `updates`. */
      patch?: components['schemas']['BulkPatch'];
      /** @description Instead of `ids` and `patch`: the assets to update, each with its own changes. */
      updates?: components['schemas']['BulkEntry'][] | null;
    };
    /** @description How many of the distinct ids were updated, and which were not. */
    BulkUpdateSummary: {
      /** @description Only of a dry run: one entry for each asset that would change. */
      changes?: components['schemas']['BulkUpdateChange'][];
      /**
       * @description Distinct ids that were not updated.
       * @example 1
       */
      failedUpdates: number;
      /** @description One entry for each id that was not updated. */
      failures: components['schemas']['BulkUpdateFailure'][];
      /**
       * @description Distinct ids that were updated.
       * @example 1
       */
      successfulUpdates: number;
    };
    /** @description Visible assets of one category. */
    CategoryCounts: {
      /**
       * @description The category.
       * @example CLOUD
       */
      categoryKey: components['schemas']['AssetCategoryKey'];
      /** @description All of them by classification. */
      classification: components['schemas']['ClassificationCounts'];
      /**
       * Format: int64
       * @description All of them.
       * @example 12
       */
      total: number;
      /**
       * Format: int64
       * @description Those with a description.
       * @example 12
       */
      withDescription: number;
      /**
       * Format: int64
       * @description Those with an owner.
       * @example 12
       */
      withOwner: number;
    };
    /** @description The asset as by id; null when it was removed. */
    ChangedAsset: {
      /**
       * @description CLOUD only: cloud account id. Null when unknown and for other categories.
       * @example null
       */
      accountId: string | null;
      /**
       * @description Top-level category.
       * @example CLOUD
       */
      categoryKey: components['schemas']['AssetCategoryKey'];
      /**
       * @description `UNKNOWN` when nobody classified the asset.
       * @example INTERNAL
       */
      classification: components['schemas']['Classification'];
      /**
       * @description `COMPLETE` exactly when the asset has an owner.
       * @example COMPLETE
       */
      completeStatus: components['schemas']['CompleteStatus'];
      /**
       * Format: date-time
       * @description Creation time, UTC.
       * @example 2026-01-02T03:04:05.000Z
       */
      createdAt: string;
      dataStored: components['schemas']['DataStored'];
      /**
       * @description Governance description; null when there is none.
       * @example Access logs of the public website
       */
      description: string | null;
      /**
       * @description EMPLOYEE only: the employee's e-mail address (personal data). Null when unknown and for other categories.
       * @example null
       */
      email: string | null;
      /**
       * @description Identifier of the asset in its source system.
       * @example arn:aws:s3:::access-logs
       */
      externalId: string;
      /**
       * Format: uuid
       * @description Id of the asset. For an EMPLOYEE asset, the id of the employee.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /**
       * Format: date-time
       * @description Last compliance check, UTC; null when there was none.
       * @example 2026-11-01T00:00:00.000Z
       */
      lastCheckedAt: string | null;
      /**
       * @description Display name.
       * @example access-logs
       */
      name: string;
      /**
       * @description COMPUTER only: operating system family and version, one space between. Null when unknown and for other categories.
       * @example null
       */
      osVersion: string | null;
      owner?: components['schemas']['Owner'];
      /**
       * Format: uuid
       * @description Id of the employee who owns the asset; null without an owner.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId: string | null;
      /**
       * @description Origin of the owner assignment; null without an owner. One of `MANUAL`, `API`, `INTEGRATION`, `RULE`; new values may be added, so accept any.
       * @example MANUAL
       */
      ownerSource: string | null;
      /**
       * @description CLOUD only: region or location. Null when unknown and for other categories.
       * @example null
       */
      region: string | null;
      /**
       * @description COMPUTER only: hardware serial number. Null when unknown and for other categories.
       * @example null
       */
      serialNumber: string | null;
      /**
       * @description Import source that `externalId` belongs to.
       * @example aws
       */
      source: string;
      /** @description Sorted by the code points of the key; empty without tags. */
      tags: components['schemas']['Tag'][];
      /**
       * @description Type within the category. One of `CLOUD_AUTOSCALE_GROUPS`, `CLOUD_COMPUTE_INSTANCE`, `CLOUD_CONTAINER_REPOSITORY`, `CLOUD_DATA_WAREHOUSE`, `CLOUD_LOAD_BALANCER`, `CLOUD_NO_SQL_DATABASE`, `CLOUD_PAAS_APPS`, `CLOUD_QUEUE`, `CLOUD_RELATIONAL_DATABASE`, `CLOUD_STORAGE_BUCKET`, `CLOUD_OTHER`, `COMPUTER`, `CUSTOM`, `INFORMATION`, `EMPLOYEE`; new values may be added, so accept any.
       * @example CLOUD_AUTOSCALE_GROUPS
       */
      type: string;
      /**
       * Format: date-time
       * @description Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.
       * @example 2026-11-02T08:00:00.000Z
       */
      updatedAt: string;
    } | null;
    /** @description The computer as by id; null when it was removed. */
    ChangedComputer: {
      /** @description Its posture. */
      compliance: components['schemas']['CompliancePosture'];
      /**
       * Format: uuid
       * @description Id of the computer, and of its COMPUTER asset.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14
       */
      id: string;
      /**
       * @description Whether a monitoring agent or a device management system has reported the computer.
       * @example true
       */
      isMonitored: boolean;
      /**
       * Format: date-time
       * @description Last check-in, UTC; null when there was none.
       * @example 2026-11-01T00:00:00.000Z
       */
      lastCheckedAt: string | null;
      /**
       * @description Computer name or hostname.
       * @example ada-mbp
       */
      name: string;
      /**
       * @description OS family; null when unknown.
       * @example macOS
       */
      operatingSystem: string | null;
      /**
       * @description OS version, without the family; null when unknown.
       * @example 15.1
       */
      osVersion: string | null;
      owner?: components['schemas']['Owner'];
      /**
       * Format: uuid
       * @description Id of the employee who owns the asset; null without an owner.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId: string | null;
      /**
       * @description Hardware serial number; null when unknown.
       * @example C02XK
       */
      serialNumber: string | null;
      /**
       * @description Import source of the computer.
       * @example mdm
       */
      source: string;
      /** @description Sorted by the code points of the key; empty without tags. */
      tags: components['schemas']['Tag'][];
      /**
       * Format: date-time
       * @description Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.
       * @example 2026-11-02T08:00:00.000Z
       */
      updatedAt: string;
    } | null;
    /** @description Who made the change. With it a two-way sync skips its own changes. */
    ChangeOrigin: {
      /**
       * @description Client id of the application; only for `API`.
       * @example ci_5f0c2e7d2a7c419a
       */
      clientId?: string;
      /**
       * Format: uuid
       * @description Id of the person who used the console; only for `PERSON`.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      personId?: string;
      /**
       * @description `X-Request-Id` of the request; only for `API`.
       * @example 6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10
       */
      requestId?: string;
      /**
       * @description API: a request. IMPORT: an import. OPERATOR: the platform’s operators. PERSON: a person of the workspace who used the console. One of `API`, `IMPORT`, `OPERATOR`, `PERSON`; new values may be added, so accept any.
       * @example API
       */
      type: string;
    };
    /** @description Visible computers by the state of one check. */
    CheckCounts: {
      /**
       * Format: int64
       * @description The check fails.
       * @example 12
       */
      failing: number;
      /**
       * Format: int64
       * @description The check passes.
       * @example 12
       */
      passing: number;
      /**
       * Format: int64
       * @description The check is not known.
       * @example 12
       */
      unknown: number;
    };
    /** @description Visible computers by check. */
    CheckCountsByCheck: {
      /** @description Computers by its state. */
      ANTIVIRUS: components['schemas']['CheckCounts'];
      /** @description Computers by its state. */
      DISK_ENCRYPTION: components['schemas']['CheckCounts'];
      /** @description Computers by its state. */
      PASSWORD_MANAGER: components['schemas']['CheckCounts'];
      /** @description Computers by its state. */
      SCREEN_LOCK: components['schemas']['CheckCounts'];
    };
    /**
     * @description Data classification.
     * @example UNKNOWN
     * @enum {string}
     */
    Classification: 'UNKNOWN' | 'PUBLIC' | 'INTERNAL' | 'CONFIDENTIAL';
    /** @description Visible assets by classification. */
    ClassificationCounts: {
      /**
       * Format: int64
       * @description Confidential assets.
       * @example 12
       */
      CONFIDENTIAL: number;
      /**
       * Format: int64
       * @description Internal assets.
       * @example 12
       */
      INTERNAL: number;
      /**
       * Format: int64
       * @description Public assets.
       * @example 12
       */
      PUBLIC: number;
      /**
       * Format: int64
       * @description Assets that nobody classified.
       * @example 12
       */
      UNKNOWN: number;
    };
    /**
     * @description Whether the asset has an owner.
     * @example COMPLETE
     * @enum {string}
     */
    CompleteStatus: 'COMPLETE' | 'INCOMPLETE';
    /** @description The posture of a computer. An unknown value is null, never false. */
    CompliancePosture: {
      /**
       * @description Version of the monitoring agent; null when unknown.
       * @example 2.4.0
       */
      agentVersion: string | null;
      /**
       * @description Whether an antivirus is installed; null when unknown.
       * @example true
       */
      antivirusInstalled: boolean | null;
      /**
       * @description Whether the disk is encrypted; null when unknown.
       * @example true
       */
      diskEncryptionEnabled: boolean | null;
      /**
       * @description Whether a password manager is installed; null when unknown.
       * @example true
       */
      passwordManagerInstalled: boolean | null;
      /**
       * @description Whether the screen locks; null when unknown.
       * @example true
       */
      screenLockEnabled: boolean | null;
    };
    /** @description A computer of the inventory with its posture. Unknown values are null. */
    Computer: {
      /** @description Its posture. */
      compliance: components['schemas']['CompliancePosture'];
      /**
       * Format: uuid
       * @description Id of the computer, and of its COMPUTER asset.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14
       */
      id: string;
      /**
       * @description Whether a monitoring agent or a device management system has reported the computer.
       * @example true
       */
      isMonitored: boolean;
      /**
       * Format: date-time
       * @description Last check-in, UTC; null when there was none.
       * @example 2026-11-01T00:00:00.000Z
       */
      lastCheckedAt: string | null;
      /**
       * @description Computer name or hostname.
       * @example ada-mbp
       */
      name: string;
      /**
       * @description OS family; null when unknown.
       * @example macOS
       */
      operatingSystem: string | null;
      /**
       * @description OS version, without the family; null when unknown.
       * @example 15.1
       */
      osVersion: string | null;
      owner?: components['schemas']['Owner'];
      /**
       * Format: uuid
       * @description Id of the employee who owns the asset; null without an owner.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      ownerId: string | null;
      /**
       * @description Hardware serial number; null when unknown.
       * @example C02XK
       */
      serialNumber: string | null;
      /**
       * @description Import source of the computer.
       * @example mdm
       */
      source: string;
      /** @description Sorted by the code points of the key; empty without tags. */
      tags: components['schemas']['Tag'][];
      /**
       * Format: date-time
       * @description Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.
       * @example 2026-11-02T08:00:00.000Z
       */
      updatedAt: string;
    };
    /** @description The latest change of one computer. */
    ComputerChange: {
      /**
       * Format: date-time
       * @description Time of the commit, UTC. Changes of one transaction share it, and it never falls.
       * @example 2026-11-02T08:00:00.000Z
       */
      changedAt: string;
      computer: components['schemas']['ChangedComputer'];
      /**
       * Format: uuid
       * @description Public id.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11
       */
      id: string;
      /** @description Who made the latest change. */
      origin: components['schemas']['ChangeOrigin'];
      /**
       * @description UPSERTED: store this state. REMOVED: hidden or deleted. One of `UPSERTED`, `REMOVED`; new values may be added, so accept any.
       * @example UPSERTED
       */
      type: string;
    };
    /** @description A page of changes of computers. */
    ComputerChangePage: {
      /** @description Whether more changes follow. */
      pageInfo: components['schemas']['FeedPageInfo'];
      /** @description Changes in the order of their commits. */
      results: components['schemas']['ComputerChange'][];
      /**
       * @description Cursor to go on from, now or later, as `pageCursor`. Always present; it does not expire.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      resumeCursor: string;
    };
    /** @enum {string} */
    ComputerCheck: 'ANTIVIRUS' | 'DISK_ENCRYPTION' | 'PASSWORD_MANAGER' | 'SCREEN_LOCK';
    /** @description Counts of visible computers on one day. */
    ComputerDay: {
      /** @description All of them by the state of each check. */
      checks: components['schemas']['CheckCountsByCheck'];
      /**
       * Format: date
       * @description The day, UTC.
       * @example 2026-11-24
       */
      date: string;
      /**
       * @description True for a past day, which shows its last instant. False for today, which shows now.
       * @example true
       */
      isFinal: boolean;
      /**
       * Format: int64
       * @description Those that are monitored.
       * @example 12
       */
      monitored: number;
      /**
       * Format: int64
       * @description Visible computers, monitored or not.
       * @example 12
       */
      total: number;
    };
    /** @description One state of a computer. */
    ComputerHistoryEntry: {
      /**
       * @description Members that differ from the state before, without `updatedAt` and `lastCheckedAt`. Empty for the oldest state, for a hidden one and beside one.
       * @example [
       *       "completeStatus",
       *       "ownerId",
       *       "ownerSource"
       *     ]
       */
      changedFields: string[];
      computer: components['schemas']['ChangedComputer'];
      origin: components['schemas']['HistoryOrigin'];
      /**
       * Format: date-time
       * @description When the change was committed that made this state, UTC: `changedAt` of the feed.
       * @example 2026-11-02T08:00:00.123Z
       */
      validFrom: string;
      /**
       * Format: date-time
       * @description When the next change ended it, UTC; null for the present state.
       * @example null
       */
      validTo: string | null;
    };
    /** @description A page of the states of a computer. */
    ComputerHistoryPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The states, newest first. */
      results: components['schemas']['ComputerHistoryEntry'][];
    };
    /** @description A line of a stream with a computer. */
    ComputerLine: {
      /** @description The computer. */
      computer: components['schemas']['Computer'];
      /**
       * @description Type of the line.
       * @example computer
       */
      type: string;
    };
    /** @description A page of computers. */
    ComputerPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The computers of the page. */
      results: components['schemas']['Computer'][];
    };
    /** @description Counts of visible computers by day. */
    ComputerSummary: {
      /** @description The days, oldest first. */
      results: components['schemas']['ComputerDay'][];
    };
    /** @description The data that an INFORMATION or CUSTOM asset holds. Null when unknown and for other categories. */
    DataStored: {
      /**
       * @description Whether it holds data of patients; null when unknown.
       * @example true
       */
      containsPatientData: boolean | null;
      /**
       * @description Whether it holds data of users; null when unknown.
       * @example true
       */
      containsUserData: boolean | null;
      /**
       * @description Free text on the data of users.
       * @example Names and dates of birth
       */
      userDataInfo: string | null;
    } | null;
    /** @description Whether more changes follow this page. */
    FeedPageInfo: {
      /**
       * @description Cursor of the next page, for `pageCursor`; null when `hasNextPage` is false.
       * @example null
       */
      endCursor: string | null;
      /**
       * @description True when more changes follow now. The page may be short or empty all the same.
       * @example false
       */
      hasNextPage: boolean;
    };
    /** @description The API serves requests. */
    HealthDto: {
      /**
       * @description Always `ok` while the service serves requests.
       * @example ok
       */
      status: string;
      /**
       * @description Public API version.
       * @example 1.0.0
       */
      version: string;
    };
    /** @description Who made the change; null for a state from before the history began of which it is not known. */
    HistoryOrigin: {
      /**
       * @description Client id of the application; only for `API`.
       * @example ci_5f0c2e7d2a7c419a
       */
      clientId?: string;
      /**
       * Format: uuid
       * @description Id of the person who used the console; only for `PERSON`.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      personId?: string;
      /**
       * @description `X-Request-Id` of the request; only for `API`.
       * @example 6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10
       */
      requestId?: string;
      /**
       * @description API: a request. IMPORT: an import. OPERATOR: the platform’s operators. PERSON: a person of the workspace who used the console. One of `API`, `IMPORT`, `OPERATOR`, `PERSON`; new values may be added, so accept any.
       * @example API
       */
      type: string;
    } | null;
    /** @description One input that is wrong, named by exactly one of `pointer`, `parameter` and `header`. */
    InputFault: {
      /**
       * @description The reason, for programs. One of `required`, `unknown`, `duplicated`, `format`, `length`, `range`, `choice`, `readonly`, `ambiguous`, `diverged`, `purged`, `archived`; new values may be added, so accept any.
       * @example required
       */
      code: string;
      /**
       * @description The reason, for people.
       * @example pageSize is required.
       */
      detail: string;
      /**
       * @description Name of a header.
       * @example Idempotency-Key
       */
      header?: string;
      /**
       * @description Name of a query or path parameter.
       * @example pageSize
       */
      parameter?: string;
      /**
       * @description JSON pointer into the body (RFC 6901).
       * @example /ownerId
       */
      pointer?: string;
    };
    /** @description A public key (RFC 7517, section 4). */
    JsonWebKey: {
      /**
       * @description Algorithm of the key. One of `RS256`, `EdDSA`; new values may be added, so accept any.
       * @example RS256
       */
      alg: string;
      /**
       * @description Curve of an OKP key. One of `Ed25519`; new values may be added, so accept any.
       * @example Ed25519
       */
      crv?: string;
      /**
       * @description Exponent of an RSA key.
       * @example AQAB
       */
      e?: string;
      /**
       * @description Id of the key. Tokens name it; checkpoints name a hash of the key instead.
       * @example 20261101T000000000Z-1f0c9d2a
       */
      kid: string;
      /**
       * @description Type of the key. One of `RSA`, `OKP`; new values may be added, so accept any.
       * @example RSA
       */
      kty: string;
      /**
       * @description Modulus of an RSA key.
       * @example sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1Wl
       */
      n?: string;
      /**
       * @description Use of the key. One of `sig`; new values may be added, so accept any.
       * @example sig
       */
      use: string;
      /**
       * @description Public key of an OKP key.
       * @example 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo
       */
      x?: string;
    };
    /** @description Public keys (RFC 7517, section 5). */
    JsonWebKeySet: {
      /** @description The keys. Ignore those of a type or use that you do not know. */
      keys: components['schemas']['JsonWebKey'][];
    };
    /** @description The latest import, however it ended; null where none is recorded. */
    LastImport: {
      /**
       * @description Assets that it created.
       * @example 20
       */
      created: number;
      /**
       * Format: date-time
       * @description When it ended, or was found to have ended; null while it runs.
       * @example 2026-11-02T02:01:12.000Z
       */
      endedAt: string | null;
      /**
       * @description Records that were refused.
       * @example 5
       */
      failed: number;
      /**
       * @description Assets that it hid, because the input did not name them.
       * @example 3
       */
      hidden: number;
      /**
       * @description Why nothing was hidden, although the import was to hide what its input does not name; otherwise null.
       * @example null
       */
      hiddenWhy: string | null;
      /**
       * @description Import ID.
       * @example 01234567-89ab-4cde-8f01-23456789abcd
       */
      id: string;
      /**
       * @description COMPLETED: the input was read to its end. FAILED: the import ended itself before. INTERRUPTED: an operator ended it, or its process is gone. RUNNING: counts so far. One of `RUNNING`, `COMPLETED`, `FAILED`, `INTERRUPTED`; new values may be added, so accept any.
       * @example RUNNING
       */
      outcome: string;
      /**
       * @description Records that were read: created, updated, unchanged and failed ones.
       * @example 1200
       */
      read: number;
      /**
       * @description Assets that kept their history under a new external ID.
       * @example 0
       */
      rekeyed: number;
      /**
       * @description Items of the input that the map left out. They are not in `read`.
       * @example 40
       */
      skipped: number;
      /**
       * Format: date-time
       * @description When it began.
       * @example 2026-11-02T02:00:00.000Z
       */
      startedAt: string;
      /**
       * @description Assets that stayed as they were.
       * @example 1100
       */
      unchanged: number;
      /**
       * @description Assets that it changed.
       * @example 75
       */
      updated: number;
      /**
       * @description Records that were imported without a part of them.
       * @example 12
       */
      warned: number;
    } | null;
    /** @description The application of the token, what it may do, and how often. */
    Me: {
      /** @description The application that the token speaks for. */
      application: components['schemas']['MyApplication'];
      /**
       * @description Scopes that the application has now. A new token may have all of them.
       * @example [
       *       "inventory:read"
       *     ]
       */
      grantedScopes: string[];
      /** @description Limits of the application, and the tokens left. */
      limits: components['schemas']['MyLimits'];
      /** @description The token of the request. */
      token: components['schemas']['MyToken'];
      /** @description The workspace of the application. */
      workspace: components['schemas']['MyWorkspace'];
    };
    /** @description The application that the token speaks for. */
    MyApplication: {
      /**
       * @description Client id.
       * @example ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8
       */
      clientId: string;
      /**
       * Format: uuid
       * @description Application id.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20
       */
      id: string;
      /**
       * @description Name that the operator gave it.
       * @example siem
       */
      name: string;
    };
    /** @description A token bucket of the application. */
    MyLimit: {
      /**
       * @description Tokens in a full bucket.
       * @example 100
       */
      burst: number;
      /**
       * @description Tokens that come back each minute.
       * @example 50
       */
      perMinute: number;
      /**
       * @description Whole tokens left.
       * @example 98
       */
      remaining: number;
    };
    /** @description The token buckets of the application. */
    MyLimits: {
      /** @description `GET` and `HEAD` under `/v1`. */
      read: components['schemas']['MyLimit'];
      /** @description `POST /oauth/token`. */
      token: components['schemas']['MyLimit'];
      /** @description Every other method under `/v1`. */
      write: components['schemas']['MyLimit'];
    };
    /** @description The token of the request. */
    MyToken: {
      /**
       * Format: date-time
       * @description When it expires, UTC.
       * @example 2026-11-01T01:00:00.000Z
       */
      expiresAt: string;
      /**
       * Format: date-time
       * @description When it was issued, UTC.
       * @example 2026-11-01T00:00:00.000Z
       */
      issuedAt: string;
      /**
       * @description Scopes of the token that the application still has.
       * @example [
       *       "inventory:read"
       *     ]
       */
      scopes: string[];
    };
    /** @description The workspace of the application. */
    MyWorkspace: {
      /**
       * Format: uuid
       * @description Workspace id.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20
       */
      id: string;
      /**
       * @description Short name of the workspace, unique.
       * @example acme
       */
      slug: string;
    };
    /** @description The owner, a visible employee. Null without an owner, and when the owner is no longer visible. */
    Owner: {
      /**
       * @description E-mail address of the employee (personal data); null when unknown.
       * @example ada@example.com
       */
      email: string | null;
      /**
       * Format: uuid
       * @description Id of the employee.
       * @example 018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12
       */
      id: string;
      /**
       * @description Name of the employee.
       * @example Ada Okafor
       */
      name: string;
    } | null;
    /** @description The place of the page in the list. */
    PageInfo: {
      /**
       * @description The cursor of the next page: send it as `pageCursor`. Null when `hasNextPage` is false.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      endCursor: string | null;
      /**
       * @description True when more results follow.
       * @example true
       */
      hasNextPage: boolean;
      /**
       * Format: int64
       * @description Exact number of matches on all pages.
       * @example 128
       */
      totalCount: number;
    };
    /** @description Every error (RFC 7807). Let your program decide by `code`. */
    Problem: {
      /**
       * @description The reason, for programs; a code never changes its meaning. One of `validation_failed`, `invalid_cursor`, `unsupported_audience`, `unsupported_grant_type`, `invalid_request`, `invalid_scope`, `invalid_client`, `token_missing`, `token_invalid`, `token_expired`, `token_superseded`, `insufficient_scope`, `resource_not_writable`, `not_found`, `method_not_allowed`, `idempotency_conflict`, `idempotency_in_progress`, `export_in_progress`, `cursor_expired`, `precondition_failed`, `payload_too_large`, `unsupported_media_type`, `headers_too_large`, `rate_limited`, `internal_error`, `service_unavailable`; new values may be added, so accept any.
       * @example validation_failed
       */
      code: string;
      /**
       * @description The reason, for people.
       * @example No asset has this id.
       */
      detail: string;
      /** @description Up to 20 inputs that are wrong, or up to 100 employees of a bulk update; absent when no particular input is. */
      errors?: components['schemas']['InputFault'][];
      /**
       * @description Path of the request, without its query.
       * @example /v1/inventory/assets
       */
      instance: string;
      /**
       * @description Request identifier, also in the `X-Request-Id` header.
       * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
       */
      requestId: string;
      /**
       * @description HTTP status.
       * @example 404
       */
      status: number;
      /**
       * @description HTTP status text.
       * @example Not Found
       */
      title: string;
      /**
       * Format: uri
       * @description Address of a page on this problem: cause, remedy and an example, as HTML or JSON.
       * @example https://api.example.com/problems/not_found
       */
      type: string;
    };
    /** @description Protected resource metadata (RFC 9728, section 2). */
    ProtectedResourceMetadata: {
      /**
       * @description Issuers of the tokens that the API accepts.
       * @example [
       *       "https://api.example.com"
       *     ]
       */
      authorization_servers: string[];
      /**
       * @description Places of a request where the token may stand.
       * @example [
       *       "header"
       *     ]
       */
      bearer_methods_supported: string[];
      /**
       * Format: uri
       * @description Resource identifier: the base URL of the API.
       * @example https://api.example.com
       */
      resource: string;
      /**
       * Format: uri
       * @description Documentation of the API.
       * @example https://api.example.com/docs
       */
      resource_documentation: string;
      /**
       * @description Every scope that an application can have.
       * @example [
       *       "all:read",
       *       "all:write",
       *       "audit:read",
       *       "computers:read",
       *       "inventory:read",
       *       "inventory:write",
       *       "frameworks:read"
       *     ]
       */
      scopes_supported: string[];
    };
    /** @description A system that assets come from. */
    Source: {
      /**
       * @description Exact number of visible assets of the source.
       * @example 1195
       */
      assetCount: number;
      /**
       * Format: date-time
       * @description When the last completed import ended; null where there is none.
       * @example 2026-11-02T02:01:12.000Z
       */
      lastCompletedAt: string | null;
      lastImport: components['schemas']['LastImport'];
      /**
       * @description Name of the source.
       * @example intune
       */
      source: string;
      /**
       * @description Age in seconds from which the last completed import is stale; null where operators set none.
       * @example 93600
       */
      staleAfterSeconds: number | null;
    };
    /** @description A page of sources. */
    SourcePage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The sources of the page. */
      results: components['schemas']['Source'][];
    };
    /** @description A line after every 1,000 rows, from which a cut stream can be resumed. */
    StreamCheckpoint: {
      /**
       * Format: int64
       * @description Rows so far, including those before a cut.
       * @example 1000
       */
      count: number;
      /**
       * @description Send it as `pageCursor` to resume the stream after this line.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      pageCursor: string;
      /**
       * @description Type of the line.
       * @example checkpoint
       */
      type: string;
    };
    /** @description The last line. Without it the response is not complete. */
    StreamEnd: {
      /**
       * Format: int64
       * @description All rows, including those before a cut.
       * @example 2
       */
      count: number;
      /**
       * @description Type of the line.
       * @example end
       */
      type: string;
    };
    /** @description The first line of a stream. */
    StreamStart: {
      /**
       * @description Cursor of the change feed, taken before the first row; absent when the stream is resumed.
       * @example AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU
       */
      resumeCursor?: string;
      /**
       * @description True when the stream continues from a checkpoint.
       * @example true
       */
      resumed?: boolean;
      /**
       * Format: int64
       * @description Exact number of matches when the stream began.
       * @example 2
       */
      totalCount: number;
      /**
       * @description Type of the line.
       * @example start
       */
      type: string;
    };
    /** @description The first line of a stream with `asOf`. */
    StreamStartThen: {
      /**
       * Format: date-time
       * @description The instant that the stream shows, UTC.
       * @example 2026-11-01T00:00:00.000Z
       */
      asOf: string;
      /**
       * @description True when the stream continues from a checkpoint.
       * @example true
       */
      resumed?: boolean;
      /**
       * @description Type of the line.
       * @example start
       */
      type: string;
    };
    /** @description A tag of an asset or computer. */
    Tag: {
      /**
       * @description Tag key.
       * @example env
       */
      key: string;
      /**
       * @description `true` for platform-managed tags, which cannot be written.
       * @example false
       */
      readOnly: boolean;
      /**
       * @description Tag value; empty for a key without one.
       * @example production
       */
      value: string;
    };
    /** @description A key for tags of the workspace. */
    TagKey: {
      /**
       * @description Exact number of visible assets with the key.
       * @example 42
       */
      assetCount: number;
      /**
       * @description Tag key.
       * @example env
       */
      key: string;
      /**
       * @description Whether the platform manages the key, so that clients cannot set it.
       * @example false
       */
      readOnly: boolean;
      /**
       * @description Value of the tags with this key; null where the key has none. A tag of the platform may have its own.
       * @example production
       */
      value: string | null;
    };
    /** @description A page of tag keys. */
    TagKeyPage: {
      /** @description The place of the page in the list. */
      pageInfo: components['schemas']['PageInfo'];
      /** @description The tag keys of the page. */
      results: components['schemas']['TagKey'][];
    };
    /** @description A tag to set. You may send back a customer tag as you read it: only the key counts. */
    TagRequest: {
      /**
       * @description An existing customer-defined tag key; any other is refused.
       * @example env
       */
      key: string;
      /**
       * @description Ignored.
       * @example false
       */
      readOnly?: boolean | null;
      /**
       * @description Ignored: values cannot change.
       * @example production
       */
      value?: string | null;
    };
    /** @description A problem with the members of RFC 6749 beside its own, so that stock OAuth clients can read it. */
    TokenProblem: {
      /**
       * @description The reason, for programs; a code never changes its meaning. One of `validation_failed`, `invalid_cursor`, `unsupported_audience`, `unsupported_grant_type`, `invalid_request`, `invalid_scope`, `invalid_client`, `token_missing`, `token_invalid`, `token_expired`, `token_superseded`, `insufficient_scope`, `resource_not_writable`, `not_found`, `method_not_allowed`, `idempotency_conflict`, `idempotency_in_progress`, `export_in_progress`, `cursor_expired`, `precondition_failed`, `payload_too_large`, `unsupported_media_type`, `headers_too_large`, `rate_limited`, `internal_error`, `service_unavailable`; new values may be added, so accept any.
       * @example validation_failed
       */
      code: string;
      /**
       * @description The reason, for people.
       * @example No asset has this id.
       */
      detail: string;
      /**
       * @description Code of RFC 6749, or of RFC 8707. One of `invalid_request`, `invalid_client`, `invalid_scope`, `unsupported_grant_type`, `invalid_target`, `temporarily_unavailable`, `server_error`; new values may be added, so accept any.
       * @example invalid_request
       */
      error: string;
      /**
       * @description The same as `detail`.
       * @example client_secret is required.
       */
      error_description: string;
      /** @description Up to 20 inputs that are wrong, or up to 100 employees of a bulk update; absent when no particular input is. */
      errors?: components['schemas']['InputFault'][];
      /**
       * @description Path of the request, without its query.
       * @example /v1/inventory/assets
       */
      instance: string;
      /**
       * @description Request identifier, also in the `X-Request-Id` header.
       * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
       */
      requestId: string;
      /**
       * @description HTTP status.
       * @example 404
       */
      status: number;
      /**
       * @description HTTP status text.
       * @example Not Found
       */
      title: string;
      /**
       * Format: uri
       * @description Address of a page on this problem: cause, remedy and an example, as HTML or JSON.
       * @example https://api.example.com/problems/not_found
       */
      type: string;
    };
    /** @description Client credentials grant (RFC 6749, section 4.4). Send each parameter once. Unknown parameters are ignored. */
    TokenRequest: {
      /**
       * @description Leave it out, or send the audience of this API exactly. Any other gets `unsupported_audience`.
       * @example https://api.example.com
       */
      audience?: string;
      /**
       * @description A JWT instead of the secret (RFC 7523, section 2.2). It is signed with a key of the application: its `iss` and `sub` are the client id, its `aud` is the issuer, and it needs `exp`, at most an hour ahead, and a new `jti`. Or it is the token of an issuer that the application trusts, such as GitHub Actions or Kubernetes.
       * @example eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJjaV8zZjlhIn0.c2lnbmF0dXJl
       */
      client_assertion?: string;
      /**
       * @description Required beside `client_assertion`: always `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.
       * @example urn:ietf:params:oauth:client-assertion-type:jwt-bearer
       */
      client_assertion_type?: string;
      /**
       * @description Required without HTTP Basic and without an assertion that names the client. With HTTP Basic, leave it out or send the same.
       * @example ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8
       */
      client_id?: string;
      /**
       * Format: password
       * @description Required without HTTP Basic and without an assertion. Beside one of them, leave it out.
       * @example cs_the-secret-of-the-application
       */
      client_secret?: string;
      /**
       * @description Always `client_credentials`.
       * @example client_credentials
       */
      grant_type: string;
      /**
       * @description Scopes separated by spaces. Leave it out to get every granted scope.
       * @example inventory:read
       */
      scope?: string;
    };
  };
  responses: {
    /**
     * @description `invalid_request`: A parameter of the token request is missing, given twice or in the wrong place, or `Authorization` is given twice.
     *
     *     `unsupported_grant_type`: The token request asks for a grant other than `client_credentials`.
     *
     *     `invalid_scope`: A scope of the token request is unknown or not granted to the application.
     *
     *     `unsupported_audience`: The `audience` of the token request is not the audience of this API.
     *
     *     `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each input that is wrong.
     */
    '400.invalid_request.unsupported_grant_type.invalid_scope.unsupported_audience.validation_failed': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit.sometimes'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit.sometimes'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining.sometimes'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each input that is wrong. */
    '400.validation_failed': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each input that is wrong. */
    '400.validation_failed_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /**
     * @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each input that is wrong.
     *
     *     `invalid_cursor`: The cursor was altered, or it was issued for another workspace, list or set of filters.
     */
    '400.validation_failed.invalid_cursor': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `invalid_client`: The client is unknown or disabled, or the secret is wrong, expired or revoked. */
    '401.invalid_client': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'WWW-Authenticate': components['headers']['WWW-Authenticate.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /**
     * @description `token_missing`: The request has no bearer token.
     *
     *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
     *
     *     `token_expired`: The bearer token has expired.
     *
     *     `token_superseded`: A newer token was issued for the same application, or its secret was rotated without an overlap. Only the newest token is accepted.
     */
    '401.token_missing.token_invalid.token_expired.token_superseded': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'WWW-Authenticate': components['headers']['WWW-Authenticate'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `insufficient_scope`: The token lacks the scope that the operation needs. Write access does not include read access. */
    '403.insufficient_scope': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'WWW-Authenticate': components['headers']['WWW-Authenticate.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /**
     * @description `resource_not_writable`: The request would change an EMPLOYEE asset; employee records are read-only. Nothing was applied.
     *
     *     `insufficient_scope`: The token lacks the scope that the operation needs. Write access does not include read access.
     */
    '403.resource_not_writable.insufficient_scope': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'WWW-Authenticate': components['headers']['WWW-Authenticate.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `not_found`: There is nothing at this path, or no such resource in the workspace of the token. */
    '404.not_found': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `export_in_progress`: The application already reads a stream, and it can read only one at a time. */
    '409.export_in_progress': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /**
     * @description `idempotency_conflict`: The `Idempotency-Key` was already used for a different request.
     *
     *     `idempotency_in_progress`: A request with the same `Idempotency-Key` is still running.
     */
    '409.idempotency_conflict.idempotency_in_progress': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'Retry-After': components['headers']['Retry-After.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `cursor_expired`: The list cannot continue from this cursor or time without a gap. `diverged`: the data was restored to a state from before the cursor, or an operator had every reader begin again. `purged`: removed items that you have not seen were deleted for good, or audit events that you have not read were archived. `archived`: audit events recorded at `since` or later were archived. */
    '410.cursor_expired': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `precondition_failed`: The asset has changed since the version that `If-Match` names. */
    '412.precondition_failed': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `payload_too_large`: The body of the request is larger than 256 KiB, the form of a token request larger than 16 KiB, or the tags of all assets of a bulk update larger than 10 MB. */
    '413.payload_too_large': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `payload_too_large`: The body of the request is larger than 256 KiB, the form of a token request larger than 16 KiB, or the tags of all assets of a bulk update larger than 10 MB. */
    '413.payload_too_large_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `unsupported_media_type`: The operation does not read this `Content-Type`, the header is missing, or the body is compressed. */
    '415.unsupported_media_type': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `unsupported_media_type`: The operation does not read this `Content-Type`, the header is missing, or the body is compressed. */
    '415.unsupported_media_type_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `rate_limited`: The application has used up its rate limit for this kind of request. */
    '429.rate_limited': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'Retry-After': components['headers']['Retry-After'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `rate_limited`: The application has used up its rate limit for this kind of request. */
    '429.rate_limited_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        'Retry-After': components['headers']['Retry-After'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `headers_too_large`: The request has more than 200 headers, or its line and headers are too large together. */
    '431.headers_too_large': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `internal_error`: Something went wrong on our side. */
    '500.internal_error': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `internal_error`: Something went wrong on our side. */
    '500.internal_error_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit.sometimes'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit.sometimes'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining.sometimes'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `internal_error`: Something went wrong on our side. */
    '500.internal_error__': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit.sometimes'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy.sometimes'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit.sometimes'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining.sometimes'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description `service_unavailable`: A part of the service is down or too slow. A write may have been applied. */
    '503.service_unavailable': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit.sometimes'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy.sometimes'];
        'Retry-After': components['headers']['Retry-After'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit.sometimes'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining.sometimes'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['TokenProblem'];
        'application/problem+json': components['schemas']['TokenProblem'];
      };
    };
    /** @description `service_unavailable`: A part of the service is down or too slow. A write may have been applied. */
    '503.service_unavailable_': {
      headers: {
        'Cache-Control': components['headers']['Cache-Control'];
        RateLimit: components['headers']['RateLimit.sometimes'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy.sometimes'];
        'Retry-After': components['headers']['Retry-After'];
        'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit.sometimes'];
        'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining.sometimes'];
        'X-Request-Id': components['headers']['X-Request-Id'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
  };
  parameters: {
    /**
     * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
     * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
     */
    'X-Request-Id': string;
  };
  requestBodies: never;
  headers: {
    /**
     * @description No cache may keep the response.
     * @example no-store
     */
    'Cache-Control': string;
    /**
     * @description Caches may keep the response for `max-age` seconds.
     * @example public, max-age=3600
     */
    'Cache-Control.cached': string;
    /**
     * @description Version of the asset. Send it as `If-Match` in an update.
     * @example "7"
     */
    ETag: string;
    /**
     * @description Version of the asset. Send it as `If-Match` in an update.
     * @example "7"
     */
    'ETag.sometimes': string;
    /**
     * @description This response repeats the first one for this `Idempotency-Key`. Nothing was applied again.
     * @example true
     */
    'Idempotent-Replayed.sometimes': string;
    /**
     * @description Address of the next page, with your filters and `pageSize` (RFC 8288); absent on the last page, and when it would be longer than 8 kB.
     * @example <https://api.example.com/v1/inventory/assets?pageSize=50&pageCursor=AUM1cGt3>; rel="next"
     */
    'Link.sometimes': string;
    /**
     * @description Bucket (`token`, `read` or `write`), tokens left (`r`) and seconds until the bucket is full (`t`); IETF draft ratelimit-headers.
     * @example "read";r=99;t=2
     */
    RateLimit: string;
    /**
     * @description Bucket (`token`, `read` or `write`), tokens in a full bucket (`q`) and seconds to fill an empty one (`w`); IETF draft ratelimit-headers.
     * @example "read";q=100;w=120
     */
    'RateLimit-Policy': string;
    /**
     * @description Bucket (`token`, `read` or `write`), tokens in a full bucket (`q`) and seconds to fill an empty one (`w`); IETF draft ratelimit-headers.
     * @example "read";q=100;w=120
     */
    'RateLimit-Policy.sometimes': string;
    /**
     * @description Bucket (`token`, `read` or `write`), tokens left (`r`) and seconds until the bucket is full (`t`); IETF draft ratelimit-headers.
     * @example "read";r=99;t=2
     */
    'RateLimit.sometimes': string;
    /**
     * @description Whole seconds to wait before you send the request again.
     * @example 2
     */
    'Retry-After': number;
    /**
     * @description Whole seconds to wait before you send the request again.
     * @example 2
     */
    'Retry-After.sometimes': number;
    /**
     * @description How to authenticate: by a bearer token (RFC 6750), with `error` when the token was refused and `scope` when a scope is missing. The token endpoint names `Basic` if the request used it.
     * @example Bearer realm="compliance-api", error="invalid_token", error_description="The bearer token has expired."
     */
    'WWW-Authenticate': string;
    /**
     * @description How to authenticate: by a bearer token (RFC 6750), with `error` when the token was refused and `scope` when a scope is missing. The token endpoint names `Basic` if the request used it.
     * @example Bearer realm="compliance-api", error="invalid_token", error_description="The bearer token has expired."
     */
    'WWW-Authenticate.sometimes': string;
    /**
     * @description Read the response by its `Content-Type` only.
     * @example nosniff
     */
    'X-Content-Type-Options': string;
    /**
     * @description Tokens in a full bucket.
     * @example 100
     */
    'X-RateLimit-Limit': number;
    /**
     * @description Tokens in a full bucket.
     * @example 100
     */
    'X-RateLimit-Limit.sometimes': number;
    /**
     * @description Whole tokens left in the bucket.
     * @example 99
     */
    'X-RateLimit-Remaining': number;
    /**
     * @description Whole tokens left in the bucket.
     * @example 99
     */
    'X-RateLimit-Remaining.sometimes': number;
    /**
     * @description Id of the request: the one that you sent if it is well-formed, otherwise a new one. Quote it when you report a problem.
     * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
     */
    'X-Request-Id': string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  getKeySet: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The keys, newest first. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control.cached'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['JsonWebKeySet'];
        };
      };
      400: components['responses']['400.validation_failed'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error'];
    };
  };
  getAuthorizationServer: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The metadata. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control.cached'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuthorizationServerMetadata'];
        };
      };
      400: components['responses']['400.validation_failed'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error'];
    };
  };
  getProtectedResource: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The metadata. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control.cached'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProtectedResourceMetadata'];
        };
      };
      400: components['responses']['400.validation_failed'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error'];
    };
  };
  issueToken: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    /** @description At most 16 KiB, not compressed. */
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': components['schemas']['TokenRequest'];
      };
    };
    responses: {
      /** @description The new token. The previous token has ended. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessTokenResponse'];
        };
      };
      400: components['responses']['400.invalid_request.unsupported_grant_type.invalid_scope.unsupported_audience.validation_failed'];
      401: components['responses']['401.invalid_client'];
      413: components['responses']['413.payload_too_large'];
      415: components['responses']['415.unsupported_media_type'];
      429: components['responses']['429.rate_limited'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error_'];
      503: components['responses']['503.service_unavailable'];
    };
  };
  listAuditEvents: {
    parameters: {
      query?: {
        /** @description Exact action. One that does not exist gives an empty list. */
        action?: string;
        /** @description Id of the asset that was changed. */
        assetId?: string;
        /** @description Client id of the application that acted. */
        clientId?: string;
        /** @description The `resumeCursor` or `endCursor` of any earlier page, exactly as it was returned. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Events per page. */
        pageSize?: number;
        /** @description `X-Request-Id` of the request that made the change. */
        requestId?: string;
        /** @description `now` gives a cursor and nothing old; a date-time (RFC 3339) gives events with `recordedAt` at or after it. Not together with `pageCursor`. */
        since?: string;
        /** @description A date-time (RFC 3339): only events with `recordedAt` before it. */
        until?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of audit events. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuditEventPage'];
          'application/x-ndjson':
            | components['schemas']['AuditEventLine']
            | components['schemas']['StreamCheckpoint']
            | components['schemas']['StreamEnd'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      409: components['responses']['409.export_in_progress'];
      410: components['responses']['410.cursor_expired'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getAuditCheckpoint: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A C2SP signed note (`tlog-checkpoint`): origin, tree size and root in base64, then the signature. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'text/plain': string;
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listComputers: {
    parameters: {
      query?: {
        /** @description Of a stream alone: the list as it was at this instant. Of the filters only `categoryKey` goes with it, where the list has it. A date-time (RFC 3339), cut to the millisecond, not before the history begins and not after now. */
        asOf?: string;
        /** @description `owner` adds the owner with name and e-mail address to each item. It is not in the cursor. */
        expand?: string;
        /** @description Only computers with this id in their import source, whichever that is; add `source` for one of them. */
        externalId?: string;
        /** @description Only computers that are known to fail one of these checks, separated by commas. */
        failingAnyOf?: components['schemas']['ComputerCheck'][];
        /** @description Only these computers: 1 to 100 ids, separated by commas. An id that nobody has matches nothing. */
        ids?: string[];
        /** @description True: only monitored computers. False: only others. */
        isMonitored?: boolean;
        /** @description Only computers whose last check-in was earlier, or that never checked in. */
        lastCheckedBefore?: string;
        /** @description Only computers of this owner. */
        ownerId?: string;
        /** @description False: only computers whose owner is no longer a visible employee, such as those of leavers. True: only computers whose owner is one. */
        ownerVisible?: boolean;
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
        /** @description Only computers with this serial number. */
        serialNumber?: string;
        /** @description Only computers from this import source. */
        source?: string;
        /** @description Only computers of which one of these checks is not known, separated by commas. Unknown is never failing. */
        unknownAnyOf?: components['schemas']['ComputerCheck'][];
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of computers. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerPage'];
          'application/x-ndjson':
            | components['schemas']['StreamStart']
            | components['schemas']['StreamStartThen']
            | components['schemas']['ComputerLine']
            | components['schemas']['StreamCheckpoint']
            | components['schemas']['StreamEnd'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      409: components['responses']['409.export_in_progress'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getComputer: {
    parameters: {
      query?: {
        /** @description Shows what a read at this instant showed; 404 where it showed nothing. A date-time (RFC 3339), cut to the millisecond, not before the history begins and not after now. */
        asOf?: string;
        /** @description `owner` adds the owner with name and e-mail address to each item. It is not in the cursor. */
        expand?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path: {
        /** @description Id of the computer: 8-4-4-4-12 hexadecimal digits in either case. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The computer. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Computer'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      404: components['responses']['404.not_found'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listComputerHistory: {
    parameters: {
      query?: {
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path: {
        /** @description Id of the computer: 8-4-4-4-12 hexadecimal digits in either case. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of states. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerHistoryPage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      404: components['responses']['404.not_found'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listComputerChanges: {
    parameters: {
      query?: {
        /** @description The `resumeCursor` or `endCursor` of any earlier page of this feed, unchanged. Without it the feed begins with every visible item. */
        pageCursor?: string;
        /** @description Changes per page. */
        pageSize?: number;
        /** @description `now` returns a cursor and no changes. A date-time (RFC 3339) returns changes with `changedAt` at or after it. Leave it out with `pageCursor`. */
        since?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of changes. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerChangePage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      410: components['responses']['410.cursor_expired'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getComputerSummary: {
    parameters: {
      query?: {
        /** @description The first day, UTC. The last one if you leave it out. */
        from?: string;
        /** @description The last day, UTC; today if you leave it out. At most 400 days are returned. */
        to?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The counts by day. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerSummary'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getHealth: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The service serves requests. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthDto'];
        };
      };
      400: components['responses']['400.validation_failed'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error'];
    };
  };
  listAssets: {
    parameters: {
      query?: {
        /** @description Of a stream alone: the list as it was at this instant. Of the filters only `categoryKey` goes with it, where the list has it. A date-time (RFC 3339), cut to the millisecond, not before the history begins and not after now. */
        asOf?: string;
        /** @description Only assets of this category. */
        categoryKey?: components['schemas']['AssetCategoryKey'];
        /** @description Only assets of these categories, separated by commas. */
        categoryKeyAnyOf?: components['schemas']['AssetCategoryKey'][];
        /** @description Only assets of this classification; `UNKNOWN` matches unclassified assets. */
        classification?: components['schemas']['Classification'];
        /** @description Only assets of these classifications, separated by commas. */
        classificationAnyOf?: components['schemas']['Classification'][];
        /** @description `COMPLETE` is the same as `hasOwner=true`. If the two contradict each other, the page is empty. */
        completeStatus?: components['schemas']['CompleteStatus'];
        /** @description Only employees with this e-mail address, in any letter case. */
        email?: string;
        /** @description `owner` adds the owner with name and e-mail address to each item. It is not in the cursor. */
        expand?: string;
        /** @description Only the asset with this id in its source system; several where sources share the id. Send `source` as well to name one. */
        externalId?: string;
        /** @description True: only assets with a description. False: only assets without one. */
        hasDescription?: boolean;
        /** @description True: only assets with an owner. False: only assets without one. */
        hasOwner?: boolean;
        /** @description Only these assets: 1 to 100 ids, separated by commas. An id that nobody has matches nothing. */
        ids?: string[];
        /** @description Only assets with exactly this name, in the same case. */
        name?: string;
        /** @description Only assets of this owner, an employee. An id that nobody has gives an empty page. */
        ownerId?: string;
        /** @description False: only assets whose owner is no longer a visible employee, such as those of leavers. True: only assets whose owner is one. */
        ownerVisible?: boolean;
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
        /** @description Only computers with this serial number. */
        serialNumber?: string;
        /** @description Only assets of this import source. */
        source?: string;
        /** @description Only assets of this type; `CLOUD` matches every cloud asset. It must belong to `categoryKey` if you send both. */
        subKey?: components['schemas']['AssetSubKey'];
        /** @description Only assets of these types, separated by commas; `CLOUD` matches every cloud asset. */
        subKeyAnyOf?: components['schemas']['AssetSubKey'][];
        /** @description Only assets with this tag. A key that does not exist gives an empty page. */
        tagKey?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of assets. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetPage'];
          'application/x-ndjson':
            | components['schemas']['StreamStart']
            | components['schemas']['StreamStartThen']
            | components['schemas']['AssetLine']
            | components['schemas']['StreamCheckpoint']
            | components['schemas']['StreamEnd'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      409: components['responses']['409.export_in_progress'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  updateAssets: {
    parameters: {
      query?: never;
      header: {
        /** @description A key of your choice, new for each change. To retry, send the same request with the same key: the API applies it once and returns the first response again, with `Idempotent-Replayed: true`. A key lives 24 hours by default. It has 1 to 256 characters after trimming, and no control characters. */
        'Idempotency-Key': string;
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    /** @description At most 256 KiB, not compressed. As `application/json`, a field that is absent or null stays as it is. As `application/merge-patch+json` (RFC 7396), null clears a field. */
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkUpdateRequest'];
        'application/merge-patch+json': components['schemas']['BulkUpdateMergePatch'];
      };
    };
    responses: {
      /** @description How many assets were updated, and which were not. The assets are not returned. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkUpdateSummary'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.resource_not_writable.insufficient_scope'];
      409: components['responses']['409.idempotency_conflict.idempotency_in_progress'];
      413: components['responses']['413.payload_too_large_'];
      415: components['responses']['415.unsupported_media_type_'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getAsset: {
    parameters: {
      query?: {
        /** @description Shows what a read at this instant showed; 404 where it showed nothing. A date-time (RFC 3339), cut to the millisecond, not before the history begins and not after now. */
        asOf?: string;
        /** @description `owner` adds the owner with name and e-mail address to each item. It is not in the cursor. */
        expand?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path: {
        /** @description Id of the asset: 8-4-4-4-12 hexadecimal digits in either case. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The asset. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          ETag: components['headers']['ETag.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Asset'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      404: components['responses']['404.not_found'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  updateAsset: {
    parameters: {
      query?: never;
      header: {
        /** @description A key of your choice, new for each change. To retry, send the same request with the same key: the API applies it once and returns the first response again, with `Idempotent-Replayed: true`. A key lives 24 hours by default. It has 1 to 256 characters after trimming, and no control characters. */
        'Idempotency-Key': string;
        /** @description Update only if the asset still has this `ETag`, otherwise `412`. Several tags are separated by commas; `*` matches any. A replay ignores it. */
        'If-Match'?: string;
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path: {
        /** @description Id of the asset: 8-4-4-4-12 hexadecimal digits in either case. */
        id: string;
      };
      cookie?: never;
    };
    /** @description At most 256 KiB, not compressed. As `application/json`, a field that is absent or null stays as it is. As `application/merge-patch+json` (RFC 7396), null clears a field. */
    requestBody: {
      content: {
        'application/json': components['schemas']['AssetMetadataPatchRequest'];
        'application/merge-patch+json': components['schemas']['AssetMetadataMergePatch'];
      };
    };
    responses: {
      /** @description The updated asset. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          ETag: components['headers']['ETag'];
          'Idempotent-Replayed': components['headers']['Idempotent-Replayed.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Asset'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.resource_not_writable.insufficient_scope'];
      404: components['responses']['404.not_found'];
      409: components['responses']['409.idempotency_conflict.idempotency_in_progress'];
      412: components['responses']['412.precondition_failed'];
      413: components['responses']['413.payload_too_large_'];
      415: components['responses']['415.unsupported_media_type_'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listAssetHistory: {
    parameters: {
      query?: {
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path: {
        /** @description Id of the asset: 8-4-4-4-12 hexadecimal digits in either case. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of states. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetHistoryPage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      404: components['responses']['404.not_found'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listCategories: {
    parameters: {
      query?: {
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of categories. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetCategoryPage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listAssetChanges: {
    parameters: {
      query?: {
        /** @description Only changes of assets of this category. */
        categoryKey?: components['schemas']['AssetCategoryKey'];
        /** @description The `resumeCursor` or `endCursor` of any earlier page of this feed, unchanged. Without it the feed begins with every visible item. */
        pageCursor?: string;
        /** @description Changes per page. */
        pageSize?: number;
        /** @description `now` returns a cursor and no changes. A date-time (RFC 3339) returns changes with `changedAt` at or after it. Leave it out with `pageCursor`. */
        since?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of changes. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetChangePage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      410: components['responses']['410.cursor_expired'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listSources: {
    parameters: {
      query?: {
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of sources. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SourcePage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getAssetSummary: {
    parameters: {
      query?: {
        /** @description The first day, UTC. The last one if you leave it out. */
        from?: string;
        /** @description The last day, UTC; today if you leave it out. At most 400 days are returned. */
        to?: string;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The counts by day. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetSummary'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  listTagKeys: {
    parameters: {
      query?: {
        /** @description The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
        /** @description True: only keys that the platform manages. False: only keys that clients can set. */
        readOnly?: boolean;
      };
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of tag keys. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          Link: components['headers']['Link.sometimes'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TagKeyPage'];
        };
      };
      400: components['responses']['400.validation_failed.invalid_cursor'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      403: components['responses']['403.insufficient_scope'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
  getMe: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Id of your choice for the request: 1 to 64 letters, digits, dots, underscores and hyphens. The response returns it. Any other value is replaced by a new id, never refused.
         * @example 0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10
         */
        'X-Request-Id'?: components['parameters']['X-Request-Id'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The application of the token. */
      200: {
        headers: {
          'Cache-Control': components['headers']['Cache-Control'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Me'];
        };
      };
      400: components['responses']['400.validation_failed_'];
      401: components['responses']['401.token_missing.token_invalid.token_expired.token_superseded'];
      429: components['responses']['429.rate_limited_'];
      431: components['responses']['431.headers_too_large'];
      500: components['responses']['500.internal_error__'];
      503: components['responses']['503.service_unavailable_'];
    };
  };
}

/** Every code of the contract. */
export type ProblemCode =
  | 'cursor_expired'
  | 'export_in_progress'
  | 'headers_too_large'
  | 'idempotency_conflict'
  | 'idempotency_in_progress'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_client'
  | 'invalid_cursor'
  | 'invalid_request'
  | 'invalid_scope'
  | 'method_not_allowed'
  | 'not_found'
  | 'payload_too_large'
  | 'precondition_failed'
  | 'rate_limited'
  | 'resource_not_writable'
  | 'service_unavailable'
  | 'token_expired'
  | 'token_invalid'
  | 'token_missing'
  | 'token_superseded'
  | 'unsupported_audience'
  | 'unsupported_grant_type'
  | 'unsupported_media_type'
  | 'validation_failed';
