import { Type } from "@sinclair/typebox";
import { AgentVersion } from "./agent-version.ts";
import { Resource, Uuid } from "./resources.ts";
import { Json, Text } from "./types.ts";

export const WhatsAppMessageBody = Type.Object(
  {
    agent_id: Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    agent_version: AgentVersion,
    to_mobile_number: Text({
      pattern: "^\\+[1-9][0-9]{6,14}$",
      form: "be a phone number in E.164 form, such as +14155550123",
      description: "The recipient.",
      example: "+14155550123",
    }),
    template: Type.Object(
      {
        name: Text({ min: 1, max: 512, description: "Name of the template at Meta.", example: "order_update" }),
        language: Text({ min: 2, max: 8, description: "The template's language code at Meta.", example: "en_US" }),
        components: Type.Optional(
          Type.Array(Json, {
            maxItems: 20,
            description: "The values for its placeholders, in the form of Meta's API.",
          }),
        ),
      },
      { description: "A message that Meta has approved." },
    ),
  },
  { $id: "WhatsAppMessageRequest", description: "A template message to a person." },
);

export const WhatsAppMessage = Resource("WhatsAppMessage", {
  message_id: Uuid("ID of the message."),
  conversation_id: Uuid("The conversation that it opens once it is sent."),
  status: Type.Literal("QUEUED", {
    description: "The message's later status is `delivery_status` in the conversation's transcript.",
  }),
});
