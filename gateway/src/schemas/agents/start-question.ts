import { Type } from "@sinclair/typebox";
import { Draft } from "../draft.ts";
import { AgentId, Resource } from "../resources.ts";
import { DynamicVariables, Maybe, Nullable, OneOf, Text } from "../types.ts";
import { Channel } from "./start-webhook.ts";

export const StartQuestion = Resource(
  "StartQuestion",
  {
    agent_id: AgentId,
    conversation_id: Type.String({ description: "ID of the conversation that begins.", format: "uuid" }),
    channel: Channel,
    direction: OneOf(["inbound", "outbound"] as const, { description: "Who began it." }),
    caller: Nullable(Type.String(), "Number of the caller in E.164 form; null where there is none."),
    called: Nullable(Type.String(), "Number that was called in E.164 form; null where there is none."),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: "Metadata that the client gave." }),
    dynamic_variables: Type.Record(Type.String(), Type.Unknown(), {
      description: "Variables that the client gave, by their canonical names.",
    }),
  },
  "What your server is asked.",
);

export const StartAnswer = Type.Object(
  {
    dynamic_variables: Maybe(
      Type.Record(Type.String(), Type.Unknown()),
      "Variables that count more than the client's: any JSON values of at most 16 KiB.",
    ),
    agent_id: Maybe(Text({ max: 200 }), "ID of another agent of yours that holds the conversation."),
    first_message: Maybe(Text({ max: 10_000 }), "Greeting in place of the agent's; it may have `{{variables}}`."),
    language: Maybe(Text({ max: 50 }), "Language of the conversation, as a BCP 47 tag."),
    voice_id: Maybe(Text({ min: 1, max: 200 }), "Voice of the agent in a call, of the provider that it has."),
    metadata: Maybe(Type.Record(Type.String(), Type.Unknown()), "Metadata that counts more than the client's."),
    reject: Maybe(
      Type.Object({ say: Text({ min: 1, max: 1000, description: "What the agent says before it ends." }) }),
      "Ends the conversation after these words.",
    ),
  },
  {
    $id: "StartAnswer",
    description:
      "Your server's answer: JSON of at most 64 KiB. Unknown fields are ignored. A known one with a wrong value makes the whole answer a failure.",
  },
);

export const TryStartWebhookBody = Type.Object(
  {
    channel: Maybe(Channel, "Channel of the sample. Default: `chat`."),
    metadata: Maybe(Type.Record(Type.String(), Type.Unknown()), "Metadata of the sample."),
    dynamic_variables: DynamicVariables,
    draft: Draft,
  },
  { $id: "TryStartWebhookRequest", description: "A conversation that never is, to ask your server about." },
);

export const TriedStartWebhook = Resource(
  "TriedStartWebhook",
  {
    request: Nullable(
      Type.Object({
        method: Type.String({ description: "Method." }),
        url: Type.String({ description: "Address." }),
        headers: Type.Record(Type.String(), Type.String(), { description: "Headers." }),
        body: Nullable(Type.String(), "Body."),
      }),
      "The request, with secrets masked; null if nothing was asked.",
    ),
    status: Nullable(Type.Integer(), "Status of the response; null if none came."),
    answer: Nullable(Type.String(), "Body of the response, with secrets masked; null if none came."),
    duration_ms: Type.Integer({ description: "How long it took, in milliseconds.", examples: [84] }),
    error: Nullable(Type.String(), "Why a conversation would not use the answer; null: it would."),
  },
  "What came of asking your server about a sample.",
);
