/** Version of the public API, in the health answer and the contract (specification, Versioning). */
export const API_VERSION = '1.0.0';
