/** A response that was read to its end, and the object in it. */
export interface Received extends Response {
  readonly parsed: Readonly<Record<string, unknown>>;
}

/** Parses a JSON object. Returns null for any other text, so that no error quotes it. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
