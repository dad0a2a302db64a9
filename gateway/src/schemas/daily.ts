import { Type } from "@sinclair/typebox";
import { AgentVersion } from "./agent-version.ts";
import { At, Resource, Uuid } from "./resources.ts";
import { DynamicVariables, Maybe, Metadata, Text } from "./types.ts";

export const DailySessionBody = Type.Object(
  {
    agent_id: Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    agent_version: AgentVersion,
    dynamic_variables: DynamicVariables,
    metadata: Maybe(Metadata, "Kept with the conversation."),
    expires_in_seconds: Maybe(
      Type.Integer({
        minimum: 60,
        maximum: 14_400,
        description: "Seconds after which the room closes, even if somebody is in it. Default: 3600.",
        examples: [1_800],
      }),
    ),
  },
  { $id: "CreateDailySessionRequest", description: "A Daily room for an agent to join." },
);

export const DailySession = Resource(
  "DailySession",
  {
    conversation_id: Uuid("The conversation, which is in progress from now on."),
    room_url: Type.String({
      format: "uri",
      description: "The address of the private room, for Daily's clients.",
      examples: ["https://acme.daily.co/parley-0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"],
    }),
    room_name: Type.String({
      description: "The room's name at Daily.",
      examples: ["parley-0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"],
    }),
    token: Type.String({
      description: "Daily's meeting token with which one person enters the room. The agent joins that person.",
      examples: ["eyJhbGciOiJIUzI1NiJ9.eyJyIjoicGFybGV5In0.x7Qm2vT9"],
    }),
    expires_at: At("When the room closes and the token ends."),
  },
  "What a person needs to meet an agent in a Daily room.",
);
