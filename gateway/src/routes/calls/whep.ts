import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { LISTENERS } from "../live.ts";
import { streamRoutes } from "./stream-routes.ts";

/** Longer than the process that holds the call may take to answer. */
const TIMEOUT_MS = 10_000;

/** How browsers listen to calls: WHEP (draft-ietf-wish-whep), with the listener's token instead of a key. */
export function whepRoutes(gate: GateContext, { voices }: Clients) {
  return streamRoutes(gate, {
    path: LISTENERS,
    tag: "Conversations",
    security: ["ListenerToken"],
    limit: { name: "whep", refusal: "Too many listeners from this address. Wait a minute." },
    token: {
      whose: "listener's",
      refusal: "The token is wrong or has expired: ask for another one",
    },
    connecting: {
      id: "connectListener",
      summary: "Connect a browser that listens to a call",
      description:
        "WHEP. Browsers call it at the `url` of `listenToConversation`, with its token (docs/live.md). An offer that would also send is answered `sendonly`.",
      success: "The call can be heard.",
      refuses: {
        400: "5 people listen to this call already",
        409: "Nobody is on the line in this call",
      },
      connect: (stream, origin) => voices.connectListener(stream, { origin, timeoutMs: TIMEOUT_MS }),
    },
    ending: {
      id: "endListener",
      summary: "Stop listening to a call",
      description: "WHEP. Closing the connection has the same effect. Safe to repeat.",
      success: "The listener is gone. The call goes on.",
      end: (stream, origin) => voices.endListener(stream, { origin, timeoutMs: TIMEOUT_MS }),
    },
  });
}
