import { Type } from "@sinclair/typebox";
import { AgentVersion } from "./agent-version.ts";
import { AsksStartWebhook, Draft } from "./draft.ts";
import { At, Resource, Uuid } from "./resources.ts";
import { DynamicVariables, Maybe, Metadata, Text } from "./types.ts";

export const WebCallBody = Type.Object(
  {
    agent_id: Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    dynamic_variables: DynamicVariables,
    metadata: Maybe(Metadata, "Kept with the conversation."),
    agent_version: AgentVersion,
    draft: Draft,
    asks_start_webhook: AsksStartWebhook,
  },
  { $id: "CreateWebCallRequest", description: "A call that a browser may make to an agent." },
);

const IceServer = Resource("IceServer", {
  urls: Type.Array(Type.String(), { description: "`stun:` and `turn:` addresses." }),
  username: Type.Optional(Type.String({ description: "User name for TURN." })),
  credential: Type.Optional(Type.String({ description: "Password for TURN." })),
});

export const WebCall = Resource(
  "WebCall",
  {
    conversation_id: Uuid("The conversation that begins when the browser connects."),
    url: Type.String({
      format: "uri",
      description:
        "Address to which the browser POSTs its SDP offer (WHIP, RFC 9725), and which it DELETEs to hang up.",
      examples: ["https://parley.example.com/v1/public/web-calls/0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"],
    }),
    token: Type.String({
      description:
        "The bearer token for `url`. It connects one call, and only until `expires_at`. Whoever has it hears the call and, if the page asks for it, makes the calls of the agent's client tools.",
      examples: ["kqXh0FvYzZ3Yk0sQ9dJ1mP7uR2wT5xB8cN4vL6aE0iG"],
    }),
    ice_servers: Type.Array(IceServer, {
      description: "For the browser's `RTCPeerConnection`; empty if the operator has none.",
    }),
    expires_at: At("When the token can no longer connect a call."),
  },
  "What a browser needs to call an agent.",
);
