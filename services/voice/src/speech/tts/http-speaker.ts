import { EgressError } from "@parley/shared/egress/error";
import { ServiceError } from "@parley/shared/errors";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { type Access, refusal, unreachable } from "../access.ts";
import type { Speaker, SpeakerEvents } from "./reply.ts";

/** Speaks piece after piece by a request each. @param request answers with the audio of a text; must observe the signal */
export function httpSpeaker(
  access: Access,
  request: (text: string, signal: AbortSignal) => AsyncGenerator<Pcm>,
  events: SpeakerEvents,
): Speaker {
  const closed = new AbortController();
  let work: Promise<void> = Promise.resolve();
  let characters = 0;

  const speak = async (text: string) => {
    if (closed.signal.aborted) return;
    try {
      if (text.trim() !== "") {
        for await (const audio of request(text, closed.signal)) {
          // A read may have many seconds, of which the listener need not have all.
          for (let at = 0; at < audio.length; at += SAMPLES_PER_SECOND) {
            events.audio(audio.subarray(at, at + SAMPLES_PER_SECOND));
            await events.room();
          }
        }
      }
      characters += text.length;
      events.spoken(characters);
    } catch (error) {
      if (closed.signal.aborted) return;
      closed.abort();
      if (error instanceof ServiceError) return events.refused(error);
      if (error instanceof EgressError && error.kind === "forbidden")
        return events.refused(unreachable(access.provider, error.message));
      events.lost(error instanceof EgressError ? error.message : "it sent no audio that can be read");
    }
  };
  return {
    say: (text) => {
      work = work.then(() => speak(text));
    },
    end: () => {
      work = work.then(() => {
        if (!closed.signal.aborted) events.done();
      });
    },
    close: () => closed.abort(),
  };
}

/** @throws ServiceError when another attempt would not help, Error when it may */
export async function checkResponse(access: Access, response: Response): Promise<void> {
  if (response.ok) return;
  await response.body?.cancel();
  throw refusal(access, response.status) ?? new Error(`status ${response.status}`);
}
