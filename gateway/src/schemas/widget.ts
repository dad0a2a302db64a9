import { Type } from "@sinclair/typebox";
import { MESSAGE_CHARACTERS_MAX } from "./chat.ts";
import { At, Resource, Uuid } from "./resources.ts";
import { Text } from "./types.ts";

/** The body with which a page requests a token. */
export const WidgetTokenBody = Type.Object(
  {
    agent_id: Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    token: Type.Optional(
      Text({
        min: 1,
        max: 1_500,
        description: "An earlier token, at most a day old, whose chat continues. It may have expired.",
      }),
    ),
  },
  { $id: "WidgetTokenRequest", description: "A visitor who wants to chat with an agent." },
);

export const WidgetToken = Resource(
  "WidgetToken",
  {
    token: Type.String({ description: "The bearer token of this visitor, this agent and the page's origin." }),
    expires_at: At("When the token expires: renew it before then."),
    session_id: Uuid("The chat, which begins with the first message."),
    agent_name: Type.String({ description: "Name of the agent.", examples: ["Front desk"] }),
    widget_config: Type.Record(Type.String(), Type.Unknown(), {
      description: "How the widget looks: the agent's `widget_config` without its `allowed_origins`.",
    }),
  },
  "What a page needs to chat with an agent.",
);

/** The route checks the message's length, because a violation is 400 instead of 422. */
export const WidgetMessageBody = Type.Object(
  {
    message: Type.String({
      description: `What the visitor says, 1 to ${MESSAGE_CHARACTERS_MAX} characters.`,
      examples: ["When do you open on Friday?"],
    }),
  },
  { $id: "WidgetMessageRequest", description: "A visitor's message." },
);

export const VisitorEvents = Type.String({
  description: "The events `snapshot`, `message`, `state`, `ended` and `error`.",
});
