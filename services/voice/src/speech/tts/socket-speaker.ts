import type { JsonObject } from "@parley/shared/json/json-object";
import { type Access, refusal, timesOf } from "../access.ts";
import { openSocket } from "../socket.ts";
import type { Speaker, SpeakerEvents } from "./reply.ts";

/** What differs between providers that speak over a WebSocket. One for each attempt. */
export interface SpeakerDialect {
  url: string;
  headers: Record<string, string>;
  /** Sent first. */
  begin?: object[];
  say(text: string): object[];
  end(): object[];
  /** Sent before the connection is closed in the middle. */
  cancel?: object;
  message(message: JsonObject, events: SpeakerEvents): void;
  bytes?(data: Uint8Array, events: SpeakerEvents): void;
}

/** Providers join pieces as they are. */
export function endingInSpace(text: string): string {
  return /\s$/.test(text) ? text : `${text} `;
}

/** The provider refuses what the connection carries, so that another one would end the same way. */
const POLICY_VIOLATION = 1008;

/** The text that waits for the connection is the caller's reply, which is bounded there. */
export function socketSpeaker(access: Access, dialect: SpeakerDialect, events: SpeakerEvents): Speaker {
  const waiting: object[] = [...(dialect.begin ?? [])];
  const send = (messages: object[]) => {
    if (!socket.isOpen()) waiting.push(...messages);
    else for (const message of messages) socket.send(message);
  };
  const { bytes } = dialect;
  const socket = openSocket(
    { provider: access.provider, url: dialect.url, headers: dialect.headers, connectMs: timesOf(access).connectMs },
    {
      opened: () => send(waiting.splice(0)),
      message: (message) => dialect.message(message, events),
      ...(bytes && { bytes: (data) => bytes(data, events) }),
      closed: ({ status, code }) => {
        const refused = refusal(access, status ?? (code === POLICY_VIOLATION ? 401 : 0));
        if (refused) events.refused(refused);
        else events.lost("the connection was lost");
      },
    },
  );
  return {
    say: (text) => send(dialect.say(text)),
    end: () => send(dialect.end()),
    close: () => {
      if (dialect.cancel) socket.send(dialect.cancel);
      socket.close();
    },
  };
}
