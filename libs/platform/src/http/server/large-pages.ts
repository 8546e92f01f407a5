import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** Items that tell how long the others are. A page of no more, as by default, is made at once. */
const FIRST_ITEMS = 25;
/** A page is large from this length on. So much text is made at once. */
const LARGE_TEXT = 250_000;
/** Each holds its items until it is sent. More would fill the memory, and are made at once. */
const MOST_IN_TURNS = 2;

/** Makes the text of large pages in turns with other requests. */
export class LargePages {
  private underWay = 0;

  /**
   * Gives the JSON of a body to `sendNow`. That of a large page goes to `sendLarge` later: before each piece the event loop
   * serves other requests.
   */
  make<Result>(
    body: object,
    sendNow: (text: string) => Result,
    sendLarge: (bytes: Buffer) => Promise<Result>,
  ): Result | Promise<Result> {
    const pieces = jsonPieces(body);
    let text = '';
    for (let piece = pieces.next(); !piece.done; piece = pieces.next()) {
      text += piece.value;
      if (text.length >= LARGE_TEXT && this.underWay < MOST_IN_TURNS) return this.inTurns(text, pieces, sendLarge);
    }
    return sendNow(text);
  }

  private async inTurns<Result>(
    text: string,
    pieces: Iterable<string>,
    send: (bytes: Buffer) => Promise<Result>,
  ): Promise<Result> {
    this.underWay += 1;
    try {
      const made = [Buffer.from(text)];
      await nextTurnOfLoop();
      for (const piece of pieces) {
        made.push(Buffer.from(piece));
        await nextTurnOfLoop();
      }
      return await send(Buffer.concat(made));
    } finally {
      this.underWay -= 1;
    }
  }
}

/** The JSON of a body, that of a page in pieces. */
function* jsonPieces(body: object): Generator<string> {
  const { results, pageInfo, ...others } = body as { readonly results?: unknown; readonly pageInfo?: unknown };
  if (!Array.isArray(results) || pageInfo === undefined || results.length <= FIRST_ITEMS) {
    yield JSON.stringify(body);
    return;
  }
  for (let at = 0, end = FIRST_ITEMS; at < results.length;) {
    const items = JSON.stringify(results.slice(at, end)).slice(1, -1);
    yield at === 0 ? `{"results":[${items}` : `,${items}`;
    const next = Math.max(1, Math.floor((LARGE_TEXT * (end - at)) / items.length));
    at = end;
    // At most as many as came before, because larger ones may follow.
    end += Math.min(next, at);
  }
  yield `],${JSON.stringify({ pageInfo, ...others }).slice(1)}`;
}
