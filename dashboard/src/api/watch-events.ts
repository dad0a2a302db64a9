import { EventSourceParserStream } from "eventsource-parser/stream";

/** A server-sent event, such as those of a conversation (docs/live.md#watching). */
export interface LiveEvent {
  event: string;
  data: unknown;
}

const RECONNECT_MS = 1_000;

/** Reads a stream of events, and goes on behind the last one when the connection is lost. Ends when nothing follows. */
export async function watchEvents(path: string, hear: (event: LiveEvent) => void, signal: AbortSignal): Promise<void> {
  let lastId = "";
  while (!signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(lastId !== "" && { "Last-Event-ID": lastId }) };
      const response = await fetch(path, { headers, signal });
      // It has ended, or may not be watched anymore.
      if (response.status === 204 || (response.status >= 400 && response.status < 500)) return;
      const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      const reader = events?.getReader();
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        const { id, event = "", data } = read.value;
        if (id) lastId = id;
        hear({ event, data: JSON.parse(data) });
        if (event === "error") return;
      }
    } catch {
      // Lost, or left on purpose.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}
