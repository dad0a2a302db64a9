import { UpdateAgentBody } from "./agents/requests.ts";
import { About, Maybe } from "./types.ts";

export const Draft = Maybe(
  About(UpdateAgentBody, "Changes of the agent that are not saved."),
  "Unsaved changes of the agent to try, in the form of a PATCH of it; only with a session. The conversation is a test: it sends no webhook and is not counted as usage.",
);
