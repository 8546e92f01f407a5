/** Version of the public API, in the health response and the contract (specification, Versioning). */
export const API_VERSION = '1.0.0';
