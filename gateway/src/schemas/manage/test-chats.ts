import { Type } from "@sinclair/typebox";
import { AsksStartWebhook, Draft } from "../draft.ts";
import { TestedVersion } from "../tests/requests.ts";
import { DynamicVariables, Text } from "../types.ts";

export const TestChatBody = Type.Object(
  {
    agent_id: Text({ min: 1, max: 200, description: "ID of the agent.", example: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    dynamic_variables: DynamicVariables,
    agent_version: TestedVersion,
    draft: Draft,
    asks_start_webhook: AsksStartWebhook,
  },
  { $id: "StartTestChatRequest", description: "A chat that tries an agent, with its unsaved changes." },
);
