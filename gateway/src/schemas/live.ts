import { Type } from "@sinclair/typebox";
import { AgentId, At, Id, Resource } from "./resources.ts";
import { About, Nullable, OneOf, Text } from "./types.ts";

const ACTIONS = ["say", "inject", "mute", "unmute", "take_over", "give_back", "transfer", "handoff", "end"] as const;

export const ControlBody = Type.Object(
  {
    action: OneOf(ACTIONS, {
      description:
        "`say` has the agent say `text` now. `inject` lets the model know `text` from its next turn on. `mute` keeps the agent silent until `unmute`. `take_over` lets you answer in the agent's place until `give_back`, in chats and WhatsApp conversations. `transfer` connects a caller to `to`. `handoff` has another agent answer. `end` ends the conversation.",
    }),
    text: Type.Optional(Text({ max: 4_000, description: "With `say` and `inject`.", example: "Your table is ready." })),
    to: Type.Optional(
      Text({
        max: 200,
        description: "With `transfer`: a phone number in E.164 form, or a SIP address.",
        example: "+14155550123",
      }),
    ),
    agent_id: Type.Optional(About(AgentId, "With `handoff`: the agent that answers from now on.")),
    message: Type.Optional(
      Text({ max: 4_000, description: "With `end`: the agent's last words.", example: "Goodbye." }),
    ),
  },
  { $id: "ControlConversationRequest", description: "What to do with a running conversation." },
);

const TakenOver = Type.Object({
  by: Type.Object(
    {
      type: OneOf(["key", "session"] as const, { description: "Whether a key or a signed-in person." }),
      id: Id("ID of the key or session.", "ses_01m7yyhwpyegyarwxc0gvz1xd5"),
    },
    { description: "Who answers." },
  ),
  since: At("Since when."),
});

export const ControlAccepted = Resource("ControlAccepted", {
  muted: Type.Boolean({ description: "Whether the agent is muted." }),
  taken_over: Nullable(TakenOver, "Who answers in the agent's place; null if the agent does."),
});

export const Listening = Resource(
  "Listening",
  {
    url: Type.String({
      format: "uri",
      description: "Address to which a browser POSTs its SDP offer (WHEP), and which it DELETEs to stop listening.",
      examples: ["https://parley.example.com/v1/public/listeners/0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"],
    }),
    token: Type.String({
      description:
        "The bearer token for `url`. It connects one listener, and only until `expires_at`. Whoever has it hears the call.",
      examples: ["v1.3f9a1c20.kqXh0FvYzZ3Yk0sQ9dJ1mP7uR2wT5xB8cN4vL6aE0iG"],
    }),
    expires_at: At("When the token can no longer connect a listener."),
  },
  "Where a browser listens to a call.",
);
