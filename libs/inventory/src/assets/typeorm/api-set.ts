/** Bits of asset.api_set: a field that was set through the API is kept by imports (interfaces, Import format). */
export const API_SET = { owner: 1, description: 2, classification: 4, tags: 8 } as const;
