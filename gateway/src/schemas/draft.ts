import { Type } from "@sinclair/typebox";
import { UpdateAgentBody } from "./agents/requests.ts";
import { About, Maybe } from "./types.ts";

export const Draft = Maybe(
  About(UpdateAgentBody, "Unsaved changes to the agent."),
  "Unsaved changes to try out, in the form of a PATCH request; only with a session. They change the version `agent_version`, by default the newest; `{}` tries it as it is. The conversation is a test: it sends no webhook and is not counted as usage.",
);

export const AsksStartWebhook = Maybe(
  Type.Boolean(),
  "With `draft`: whether the agent's start webhook is asked, if the conversation begins with this request. Default: false.",
);
