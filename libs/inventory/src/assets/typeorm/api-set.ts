/** Bits of asset.api_set. Imports keep fields that were set through the API (interfaces, Import format). */
export const API_SET = { owner: 1, description: 2, classification: 4, tags: 8 } as const;
