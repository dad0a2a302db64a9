import { setTimeout as sleep } from "node:timers/promises";

/** `word` marks an event with a piece of the answer, which is delayed. */
export type SseEvent = { data: unknown; word?: boolean };

/** Sends server-sent events with `wordDelayMs` before each word; stops `events` as soon as the client disconnects. */
export function sse(events: Generator<SseEvent>, wordDelayMs: number, clientGone: AbortSignal): Response {
  const cancelled = new AbortController();
  const gone = AbortSignal.any([clientGone, cancelled.signal]);
  gone.addEventListener("abort", () => events.return(undefined), { once: true });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = gone.aborted ? undefined : events.next();
      if (next?.value?.word && wordDelayMs > 0) await sleep(wordDelayMs, undefined, { signal: gone }).catch(() => {});
      if (cancelled.signal.aborted) return;
      if (!next || next.done || gone.aborted) return controller.close();
      const { data } = next.value;
      controller.enqueue(encoder.encode(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`));
    },
    cancel() {
      cancelled.abort();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}
