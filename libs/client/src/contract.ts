// Generated from docs/contract/openapi.json by `npm run generate`; a test finds what was edited by hand.

export interface paths {
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
     * @description OAuth 2.0 client credentials grant. One token is active per application: a new one supersedes the one before. Credentials stand in the form or in HTTP Basic, not both.
     */
    post: operations['issueToken'];
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
     * @description Needs `computers:read` (or `all:read`). Every visible computer, monitored or not.
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
     * @description Needs `computers:read` (or `all:read`).
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
  '/v1/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Tell whether the service serves requests */
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
     * @description Needs `inventory:read` (or `all:read`). HIDDEN and deleted assets are excluded. Filters combine with AND.
     */
    get: operations['listAssets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the governance metadata of up to 100 assets
     * @description Needs `inventory:write` (or `all:write`). The patch is applied to every id in one transaction. Ids without a visible asset are counted as failed; one employee among them, and nothing is applied. Tags cannot be updated in bulk.
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
     * @description Needs `inventory:read` (or `all:read`).
     */
    get: operations['getAsset'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the governance metadata of one asset
     * @description Needs `inventory:write` (or `all:write`). Only owner, description, classification and customer tags can be written; employees cannot. An owner set here reads `ownerSource: API`, and no import overwrites what was set here.
     */
    patch: operations['updateAsset'];
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
     * @description Needs `inventory:read` (or `all:read`).
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
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AccessTokenDto: {
      /** @description Signed RS256 bearer token. */
      access_token: string;
      /** @description Lifetime in seconds. */
      expires_in: number;
      /** @description Scopes of the token, separated by spaces. */
      scope: string;
      /** @enum {string} */
      token_type: 'Bearer';
    };
    AssetCategoryDto: {
      /** @description Human-readable label. */
      displayLabel: string;
      /**
       * @description Stable category key.
       * @enum {string}
       */
      key: 'CLOUD' | 'COMPUTER' | 'CUSTOM' | 'INFORMATION' | 'EMPLOYEE';
    };
    AssetCategoryPageDto: {
      pageInfo: components['schemas']['PageInfoDto'];
      results: components['schemas']['AssetCategoryDto'][];
    };
    AssetDto: {
      /** @description CLOUD only: cloud account id. */
      accountId: string | null;
      /** @enum {string} */
      categoryKey: 'CLOUD' | 'COMPUTER' | 'CUSTOM' | 'INFORMATION' | 'EMPLOYEE';
      /**
       * @description `UNKNOWN` when nobody classified the asset.
       * @enum {string}
       */
      classification: 'UNKNOWN' | 'PUBLIC' | 'INTERNAL' | 'CONFIDENTIAL';
      /**
       * @description `COMPLETE` exactly when the asset has an owner.
       * @enum {string}
       */
      completeStatus: 'COMPLETE' | 'INCOMPLETE';
      /** Format: date-time */
      createdAt: string;
      /** @description INFORMATION and CUSTOM only. */
      dataStored: components['schemas']['DataStoredDto'] | null;
      /** @description Governance description. */
      description: string | null;
      /** @description EMPLOYEE only: the employee's e-mail address (personal data). */
      email: string | null;
      /** @description Identifier of the asset in its source system. */
      externalId: string;
      /**
       * Format: uuid
       * @description Public asset id. For EMPLOYEE assets the employee UUID.
       */
      id: string;
      /**
       * Format: date-time
       * @description Last compliance check.
       */
      lastCheckedAt: string | null;
      /** @description Display name. */
      name: string;
      /** @description COMPUTER only: operating system family and version combined. */
      osVersion: string | null;
      /**
       * Format: uuid
       * @description Owner's employee UUID.
       */
      ownerId: string | null;
      /**
       * @description Origin of the owner assignment; null without an owner. New values may be added.
       * @enum {string|null}
       */
      ownerSource: 'MANUAL' | 'API' | 'INTEGRATION' | 'RULE' | null;
      /** @description CLOUD only: region or location. */
      region: string | null;
      /** @description COMPUTER only: hardware serial number. */
      serialNumber: string | null;
      /** @description Sorted by the code points of the key. */
      tags: components['schemas']['TagDto'][];
      /**
       * @description Type within the category. New values may be added.
       * @enum {string}
       */
      type:
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
    };
    AssetMetadataPatchDto: {
      /**
       * @example INTERNAL
       * @enum {string|null}
       */
      classification?: 'UNKNOWN' | 'PUBLIC' | 'INTERNAL' | 'CONFIDENTIAL' | null;
      /**
       * @description At most 500 Unicode code points; empty clears it.
       * @example Access logs of the public website
       */
      description?: string | null;
      /**
       * Format: uuid
       * @description A visible employee of the workspace.
       */
      ownerId?: string | null;
      /** @description The wanted set of customer tags: missing ones are added, others removed, tags of the platform stay. `[]` removes all. */
      tags?: components['schemas']['TagPatchDto'][] | null;
    };
    AssetPageDto: {
      pageInfo: components['schemas']['PageInfoDto'];
      results: components['schemas']['AssetDto'][];
    };
    BulkUpdateDto: {
      /** @description Assets to update. */
      ids: string[];
      /** @description Without `tags`, which must be absent or null. */
      patch: components['schemas']['AssetMetadataPatchDto'];
    };
    BulkUpdateFailureDto: {
      /**
       * @description New values may be added.
       * @enum {string}
       */
      code: 'not_found';
      detail: string;
      /** Format: uuid */
      id: string;
    };
    BulkUpdateSummaryDto: {
      /** @description Distinct ids that were not. */
      failedUpdates: number;
      /** @description One entry for each id that was not updated. */
      failures: components['schemas']['BulkUpdateFailureDto'][];
      /** @description Distinct ids that were updated. */
      successfulUpdates: number;
    };
    CompliancePostureDto: {
      /** @description Monitoring agent version, if present. */
      agentVersion: string | null;
      /** @description null when unknown. */
      antivirusInstalled: boolean | null;
      /** @description null when unknown. */
      diskEncryptionEnabled: boolean | null;
      /** @description null when unknown. */
      passwordManagerInstalled: boolean | null;
      /** @description null when unknown. */
      screenLockEnabled: boolean | null;
    };
    ComputerDto: {
      compliance: components['schemas']['CompliancePostureDto'];
      /**
       * Format: uuid
       * @description Public computer id: that of its COMPUTER asset.
       */
      id: string;
      /** @description Whether an agent or a device management has reported the device. */
      isMonitored: boolean;
      /**
       * Format: date-time
       * @description Last device check-in.
       */
      lastCheckedAt: string | null;
      /** @description Computer name or hostname. */
      name: string;
      /** @description OS family. */
      operatingSystem: string | null;
      /** @description OS version only. */
      osVersion: string | null;
      /**
       * Format: uuid
       * @description Owner's employee UUID.
       */
      ownerId: string | null;
      /** @description Hardware serial number. */
      serialNumber: string | null;
      /** @description Sorted by the code points of the key. */
      tags: components['schemas']['ComputerTagDto'][];
    };
    ComputerPageDto: {
      pageInfo: components['schemas']['PageInfoDto'];
      results: components['schemas']['ComputerDto'][];
    };
    ComputerTagDto: {
      key: string;
      /** @description `true` for platform-managed tags. */
      readOnly: boolean;
      value: string;
    };
    DataStoredDto: {
      containsPatientData: boolean | null;
      containsUserData: boolean | null;
      userDataInfo: string | null;
    };
    HealthDto: {
      /**
       * @description Always `ok` while the service serves requests.
       * @enum {string}
       */
      status: 'ok';
      /**
       * @description Public API version.
       * @example 1.0.0
       */
      version: string;
    };
    InputFaultDto: {
      /** @description What is wrong with it, for programs. */
      code: string;
      /** @description What is wrong with it, for people. */
      detail: string;
      /** @description Name of a header. */
      header?: string;
      /** @description Name of a query or path parameter. */
      parameter?: string;
      /** @description JSON pointer into the body (RFC 6901). */
      pointer?: string;
    };
    PageInfoDto: {
      /** @description Opaque cursor of the next page; null when `hasNextPage` is false. */
      endCursor: string | null;
      /** @description True when more results follow. */
      hasNextPage: boolean;
      /**
       * Format: int64
       * @description Exact number of matches across all pages.
       */
      totalCount: number;
    };
    ProblemDto: {
      /**
       * @description Stable machine-readable code. New codes may be added.
       * @enum {string}
       */
      code:
        | 'validation_failed'
        | 'invalid_cursor'
        | 'unsupported_audience'
        | 'unsupported_grant_type'
        | 'invalid_request'
        | 'invalid_scope'
        | 'invalid_client'
        | 'token_missing'
        | 'token_invalid'
        | 'token_expired'
        | 'token_superseded'
        | 'insufficient_scope'
        | 'resource_not_writable'
        | 'not_found'
        | 'method_not_allowed'
        | 'idempotency_conflict'
        | 'idempotency_in_progress'
        | 'precondition_failed'
        | 'payload_too_large'
        | 'unsupported_media_type'
        | 'headers_too_large'
        | 'rate_limited'
        | 'internal_error'
        | 'service_unavailable';
      /** @description Human-readable explanation. */
      detail: string;
      /** @description The inputs at fault. */
      errors?: components['schemas']['InputFaultDto'][];
      /** @description Path of the request. */
      instance: string;
      /** @description Request identifier, also in the X-Request-Id header. */
      requestId: string;
      /** @description HTTP status. */
      status: number;
      /** @description HTTP status text. */
      title: string;
      /**
       * Format: uri
       * @description Address of a page on this problem.
       */
      type: string;
    };
    TagDto: {
      /** @description Tag key. */
      key: string;
      /** @description `true` for platform-managed tags, which cannot be written. */
      readOnly: boolean;
      /** @description Tag value; empty for a key without one. */
      value: string;
    };
    TagPatchDto: {
      /**
       * @description An existing customer-defined tag key.
       * @example env
       */
      key: string;
      /** @description Ignored. */
      readOnly?: boolean | null;
      /** @description Ignored: values cannot change. */
      value?: string | null;
    };
    TokenRequestDto: {
      /** @description The audience of this API; any other gives `unsupported_audience`. */
      audience?: string;
      /** @description Required unless HTTP Basic is used. */
      client_id?: string;
      /**
       * Format: password
       * @description Required unless HTTP Basic is used.
       */
      client_secret?: string;
      /** @enum {string} */
      grant_type: 'client_credentials';
      /** @description Scopes separated by spaces; absent or empty: all that the application has. */
      scope?: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  issueToken: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': components['schemas']['TokenRequestDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessTokenDto'];
        };
      };
      /**
       * @description `invalid_request`: A parameter of the token request is missing, given twice or in the wrong place.
       *
       *     `unsupported_grant_type`: The token request asks for another grant than `client_credentials`.
       *
       *     `invalid_scope`: A scope of the token request is unknown or not granted to the application.
       *
       *     `unsupported_audience`: The `audience` of the token request is not the audience of this API.
       */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `invalid_client`: The client is unknown or disabled, or the secret is wrong, expired or revoked. */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `payload_too_large`: The body of the request is larger than 256 KiB. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `unsupported_media_type`: The `Content-Type` is missing or not one that the operation reads, or the body is compressed. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  listComputers: {
    parameters: {
      query?: {
        /** @description Opaque cursor: `pageInfo.endCursor` of the page before, exactly as it was returned. Filters left out are those of the cursor; a filter sent must equal it. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerPageDto'];
        };
      };
      /**
       * @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault.
       *
       *     `invalid_cursor`: The cursor was altered, or it was issued for another workspace, list or set of filters.
       */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  getComputer: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Public computer id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ComputerDto'];
        };
      };
      /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `not_found`: There is nothing at this path, or no such resource in the workspace of the token. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  getHealth: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  listAssets: {
    parameters: {
      query?: {
        /** @description Restricts to one top-level category. */
        categoryKey?: 'CLOUD' | 'COMPUTER' | 'CUSTOM' | 'INFORMATION' | 'EMPLOYEE';
        /** @description `UNKNOWN` matches unclassified assets. */
        classification?: 'UNKNOWN' | 'PUBLIC' | 'INTERNAL' | 'CONFIDENTIAL';
        /** @description Alias of `hasOwner`. */
        completeStatus?: 'COMPLETE' | 'INCOMPLETE';
        /** @description Whether a governance description is set. */
        hasDescription?: boolean;
        /** @description Whether an owner is assigned. */
        hasOwner?: boolean;
        /** @description Opaque cursor: `pageInfo.endCursor` of the page before, exactly as it was returned. Filters left out are those of the cursor; a filter sent must equal it. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
        /** @description Restricts to one sub-type; `CLOUD` matches every cloud asset. Must belong to `categoryKey` when both are given. */
        subKey?:
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
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetPageDto'];
        };
      };
      /**
       * @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault.
       *
       *     `invalid_cursor`: The cursor was altered, or it was issued for another workspace, list or set of filters.
       */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  updateAssets: {
    parameters: {
      query?: never;
      header: {
        /** @description One key for each change, the same again when it is sent again: 1 to 256 characters. The first answer is kept for 24 hours and replayed, byte for byte, with `Idempotent-Replayed: true`. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    /** @description As `application/json` an absent and a null member both keep what is there. As `application/merge-patch+json` (RFC 7396) null clears it. */
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkUpdateDto'];
        'application/merge-patch+json': components['schemas']['BulkUpdateDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkUpdateSummaryDto'];
        };
      };
      /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `resource_not_writable`: The request would change an EMPLOYEE asset; employee records are read-only. Nothing was applied.
       *
       *     `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access.
       */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `idempotency_conflict`: The `Idempotency-Key` was already used for a different request.
       *
       *     `idempotency_in_progress`: A request with the same `Idempotency-Key` is still running.
       */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `payload_too_large`: The body of the request is larger than 256 KiB. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `unsupported_media_type`: The `Content-Type` is missing or not one that the operation reads, or the body is compressed. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  getAsset: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Public asset id. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          /** @description Strong entity tag of this version of the asset. */
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetDto'];
        };
      };
      /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `not_found`: There is nothing at this path, or no such resource in the workspace of the token. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  updateAsset: {
    parameters: {
      query?: never;
      header: {
        /** @description One key for each change, the same again when it is sent again: 1 to 256 characters. The first answer is kept for 24 hours and replayed, byte for byte, with `Idempotent-Replayed: true`. */
        'Idempotency-Key': string;
        /** @description Update only if the asset still has this entity tag; otherwise 412. */
        'If-Match'?: string;
      };
      path: {
        /** @description Public asset id. */
        id: string;
      };
      cookie?: never;
    };
    /** @description As `application/json` an absent and a null member both keep what is there. As `application/merge-patch+json` (RFC 7396) null clears it. */
    requestBody: {
      content: {
        'application/json': components['schemas']['AssetMetadataPatchDto'];
        'application/merge-patch+json': components['schemas']['AssetMetadataPatchDto'];
      };
    };
    responses: {
      /** @description The updated asset. */
      200: {
        headers: {
          /** @description Strong entity tag of this version of the asset. */
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetDto'];
        };
      };
      /** @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault. */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `resource_not_writable`: The request would change an EMPLOYEE asset; employee records are read-only. Nothing was applied.
       *
       *     `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access.
       */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `not_found`: There is nothing at this path, or no such resource in the workspace of the token. */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `idempotency_conflict`: The `Idempotency-Key` was already used for a different request.
       *
       *     `idempotency_in_progress`: A request with the same `Idempotency-Key` is still running.
       */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `precondition_failed`: The asset has changed since the version that `If-Match` names. */
      412: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `payload_too_large`: The body of the request is larger than 256 KiB. */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `unsupported_media_type`: The `Content-Type` is missing or not one that the operation reads, or the body is compressed. */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
  listCategories: {
    parameters: {
      query?: {
        /** @description Opaque cursor: `pageInfo.endCursor` of the page before, exactly as it was returned. Filters left out are those of the cursor; a filter sent must equal it. */
        pageCursor?: string;
        /** @description Items per page. */
        pageSize?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AssetCategoryPageDto'];
        };
      };
      /**
       * @description `validation_failed`: Some input is malformed, out of range or unknown. `errors` names each member that is at fault.
       *
       *     `invalid_cursor`: The cursor was altered, or it was issued for another workspace, list or set of filters.
       */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /**
       * @description `token_missing`: The request carries no bearer token.
       *
       *     `token_invalid`: The bearer token is malformed, was not issued by this service for this API, or its application is disabled.
       *
       *     `token_expired`: The lifetime of the bearer token is over.
       *
       *     `token_superseded`: A newer token was issued for the same application; only the newest is accepted.
       */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `insufficient_scope`: The token does not carry the scope that the operation needs. Write access does not include read access. */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `rate_limited`: The application has used up its allowance for this class of requests. */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `internal_error`: Something went wrong on our side. Nothing of a failed write was kept. */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
      /** @description `service_unavailable`: A part that the service depends on is down or too slow. Nothing of a failed write was kept. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['ProblemDto'];
        };
      };
    };
  };
}
