import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { streamRoutes } from "./stream-routes.ts";
import { WEB_CALLS } from "./web-calls.ts";

/** How browsers connect and end web calls: WHIP (RFC 9725), with the web call's token instead of a key. */
export function whipRoutes(gate: GateContext, { voices }: Clients) {
  return streamRoutes(gate, {
    path: WEB_CALLS,
    tag: "Calls",
    security: ["WebCallToken"],
    limit: { name: "whip", refusal: "Too many web calls from this address. Wait a minute." },
    token: {
      whose: "web call's",
      refusal: "The token is wrong, has expired or was used: make another web call",
    },
    connecting: {
      id: "connectWebCall",
      summary: "Connect a browser to its web call",
      description: "WHIP (RFC 9725). Browsers call it at the `url` of the web call, with its token (docs/calls.md).",
      success: "The call has begun.",
      refuses: {
        400: "The agent has no speech-to-text: set its stt",
        404: "Agent not found",
      },
      connect: (stream, origin) => voices.connectWebCall(stream, { origin, timeoutMs: STARTING_MS }),
    },
    ending: {
      id: "endWebCall",
      summary: "Hang up a web call",
      description: "WHIP. Closing the connection has the same effect. Safe to repeat.",
      success: "The call ends.",
      end: (stream, origin) => voices.endWebCall(stream, { origin }),
    },
  });
}
