import { textBody } from "../http/answer/text-body.ts";

/** Server-sent events to one client (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface EventStream {
  body: ReadableStream;
  /** @param id empty: what a client that reconnects knows stays */
  tell(event: string, data: object, id?: string): void;
  /** What a client knows when it reconnects. */
  mark(id: string): void;
  /** The last event, with a reason. */
  fail(reason: string): void;
  end(): void;
}

/** Keeps proxies from closing the connection. */
const COMMENT_EVERY_MS = 15_000;
/** A client that is so far behind is cut off, as is one that has not read for so long. */
const BEHIND_BYTES_MAX = 1024 * 1024;
const UNREAD_MS = 10_000;

/** @param ended called once, when nothing more is sent */
export function eventStream(ended: () => void): EventStream {
  const text = textBody();
  let behind = 0;
  let isOver = false;
  let unread: Timer | undefined;
  const comments = setInterval(() => write(":\n\n"), COMMENT_EVERY_MS);

  function end(): void {
    if (isOver) return;
    isOver = true;
    clearInterval(comments);
    clearTimeout(unread);
    text.end();
    ended();
  }

  function fail(reason: string): void {
    if (isOver) return;
    text.write(written("error", { reason }, ""));
    end();
  }

  function write(piece: string): void {
    if (isOver) return;
    const waits = text.write(piece);
    if (!waits) return;
    behind += piece.length;
    unread ??= setTimeout(() => fail("You have not read for 10 s: connect again and read faster"), UNREAD_MS);
    waits.then(() => {
      behind -= piece.length;
      clearTimeout(unread);
      unread = undefined;
    });
    if (behind > BEHIND_BYTES_MAX) fail("You are 1 MiB behind: connect again and read faster");
  }

  return {
    body: text.body,
    tell: (event, data, id = "") => write(written(event, data, id)),
    mark: (id) => write(`id: ${id}\n\n`),
    fail,
    end,
  };
}

function written(event: string, data: object, id: string): string {
  return `${id === "" ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
