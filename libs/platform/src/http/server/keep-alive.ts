/** An idle connection stays open for longer than proxies keep theirs, so that none sends a request on a closed one. */
export const KEEP_ALIVE_MS = 70_000;
