/** A shorter answer goes to the runtime in one piece. */
export const SHORT_CHARACTERS = 64 * 1024;

/**
 * A body that is handed over as fast as its client reads it. The server's idle timeout disconnects a client that stops
 * reading.
 * @param gone fires when the client has left
 * @param over is called once the client has all of it or has left
 */
export function bodyAsRead(bytes: Uint8Array, gone: AbortSignal, over: () => void): ReadableStream<Uint8Array> {
  let sent = 0;
  const end = () => {
    gone.removeEventListener("abort", end);
    over();
  };
  gone.addEventListener("abort", end);
  if (gone.aborted) end();
  return new ReadableStream({
    pull(body) {
      if (sent >= bytes.length) {
        end();
        return body.close();
      }
      body.enqueue(bytes.subarray(sent, sent + SHORT_CHARACTERS));
      sent += SHORT_CHARACTERS;
    },
    cancel: end,
  });
}

/** @param headers of the response; the content type is added to them */
export function jsonAnswer(status: number, body: object, headers: Headers): Response {
  headers.set("Content-Type", "application/json; charset=utf-8");
  return new Response(JSON.stringify(body), { status, headers });
}
