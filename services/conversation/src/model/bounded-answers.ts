import { meterOf } from "@parley/shared/egress/meter";
import { loopTurns } from "@parley/shared/shares/loop-shares";
import { createPace, type Pace, type PaceSettings } from "@parley/shared/shares/pace";
import { createParser } from "eventsource-parser";
import { jsonReader } from "./chat-completions/long-json.ts";

/** Reads an answer as it arrives. @returns how many events have ended. @throws Error when it takes too long to parse */
type Check = (text: string) => number;

/** A short event has a hundred bytes, and takes 5 to 35 µs. */
const PIECE_BYTES = 2 * 1024;
/** Events of an owner: a hundred fast models send 6,000 a second. Half of that, beside others, takes a tenth of the loop. */
const EVENTS: PaceSettings = { perSecond: 10_000, atOnce: 10_000, besideOthers: 2 };
const pace = createPace(EVENTS);
/** An event this short is parsed quickly, whatever is in it. */
const SHORT_EVENT = 128 * 1024;
/** What of a longer event is checked at a time. */
const CHECKED_AT_ONCE = 16 * 1024;
const pieces = loopTurns();

/**
 * A `fetch` for streamed answers of users' own models that a package of the AI SDK reads. The packages parse each event at once, and
 * check it against schemas: one with a million small values would stop the event loop. An event may be as long as a whole answer in
 * texts of over 1,024 characters, because some repeat the reply.
 */
export function boundedEvents(fetchIt: typeof fetch, events: Pick<Pace, "take"> = pace): typeof fetch {
  return checked(fetchIt, events, () => {
    let ended = 0;
    const parser = createParser({
      onEvent: ({ data }) => {
        ended++;
        checkEvent(data);
      },
    });
    return (text) => {
      ended = 0;
      parser.feed(text);
      return ended;
    };
  });
}

/** The same for whole answers, which are one JSON document. */
export function boundedDocument(fetchIt: typeof fetch): typeof fetch {
  return checked(fetchIt, pace, () => {
    const document = jsonReader();
    return (text) => {
      document.push(text);
      return 0;
    };
  });
}

function checkEvent(data: string): void {
  if (data.length <= SHORT_EVENT) return;
  const document = jsonReader();
  for (let at = 0; at < data.length; at += CHECKED_AT_ONCE) document.push(data.slice(at, at + CHECKED_AT_ONCE));
}

function checked(fetchIt: typeof fetch, events: Pick<Pace, "take">, newCheck: () => Check): typeof fetch {
  async function fetchChecked(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const response = await fetchIt(input, init);
    if (!response.body || !response.ok) return response;
    return new Response(checkedBody(response.body, newCheck(), events, init?.signal ?? NEVER), response);
  }
  return Object.assign(fetchChecked, { preconnect: fetchIt.preconnect });
}

const NEVER = new AbortController().signal;

/** Passes a body on in short pieces, each once it is checked, at its owner's pace and in a turn of the event loop of its own. */
function checkedBody(
  body: ReadableStream<Uint8Array>,
  check: Check,
  events: Pick<Pace, "take">,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const ownerId = meterOf(signal)?.ownerId ?? "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest: Uint8Array = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (rest.length > 0) await pieces.next(ownerId);
          while (rest.length === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
          const piece = rest.subarray(0, PIECE_BYTES);
          rest = rest.subarray(PIECE_BYTES);
          const ended = check(decoder.decode(piece, { stream: true }));
          const slowDown = ended > 0 ? events.take(ownerId, ended, signal) : null;
          if (slowDown) await slowDown;
          controller.enqueue(piece);
        } catch (error) {
          reader.cancel().catch(() => {});
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
