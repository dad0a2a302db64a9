/** The body of an answer that is written while it is sent. */
export interface TextBody {
  body: ReadableStream;
  /** Settles with the first text. */
  begun: Promise<void>;
  /** @returns a promise while the client is behind, or null; it settles when the client leaves, too */
  write(text: string): Promise<void> | null;
  end(): void;
  /** Ends the body without its terminating chunk. */
  breakOff(): void;
}

/** Written straight to the socket: Bun's own kind of stream, without a queue or a promise for each piece. */
export function textBody(): TextBody {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let controller: ReadableStreamDirectController | null = null;
  let waiting = "";
  let isLeft = false;

  function send(text: string): Promise<void> | null {
    // A long text is sent by `write`, a short one by `flush`: the one that sends returns the promise.
    const sent: unknown[] = [controller?.write(text), controller?.flush()];
    const behind = sent.filter((each) => each instanceof Promise);
    return behind.length > 0 ? Promise.all(behind).then(() => {}) : null;
  }

  const body = new ReadableStream({
    type: "direct",
    pull(given) {
      controller = given;
      if (waiting !== "") send(waiting);
      return ended.promise;
    },
    cancel() {
      isLeft = true;
      ended.resolve();
    },
  });
  // Whether or not the body is read by then.
  ended.promise.catch(() => {});
  return {
    body,
    begun: begun.promise,
    write(text) {
      begun.resolve();
      if (isLeft) return null;
      if (controller) return send(text);
      waiting += text;
      return null;
    },
    end: ended.resolve,
    // For any other thrown value, Bun prints source code into the log.
    breakOff: () => ended.reject(undefined),
  };
}
