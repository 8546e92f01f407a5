declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A tenant. Every port method takes it first, so a query without a tenant does not compile. */
export type WorkspaceId = Branded<'WorkspaceId'>;
/** An application of a workspace. It holds a client id and a client secret. */
export type ApplicationId = Branded<'ApplicationId'>;
/** The public id of an asset, and of the computer or employee behind it. Lower case. */
export type AssetId = Branded<'AssetId'>;

export const workspaceId = (value: string): WorkspaceId => value as WorkspaceId;
export const applicationId = (value: string): ApplicationId => value as ApplicationId;
export const assetId = (value: string): AssetId => value.toLowerCase() as AssetId;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any 8-4-4-4-12 hexadecimal id, in either case, whatever its version nibble. */
export const isUuid = (value: string): boolean => UUID.test(value);
