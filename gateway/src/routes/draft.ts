import { ServiceError } from "@parley/shared/errors";
import type { Clients } from "../clients.ts";
import type { Admitted } from "../gate.ts";
import type { AskedVersion } from "../schemas/agent-version.ts";
import type { UpdateAgentBody } from "../schemas/agents/requests.ts";
import { updateAgentRequest } from "./agent-request.ts";
import { testedVersionOf } from "./version.ts";

interface Trying extends AskedVersion {
  agent_id: string;
  draft?: UpdateAgentBody | null | undefined;
  asks_start_webhook?: boolean | null;
}

/**
 * Keeps the draft that a request tries, and returns its id; undefined for a request without one.
 * @throws ServiceError forbidden for a key, or what a PATCH with the draft throws, with `draft.` before each field
 */
export async function draftIdOf(
  agents: Pick<Clients["agents"], "createDraft">,
  { ownerId, isSession, body, origin }: Pick<Admitted<Trying, unknown>, "ownerId" | "isSession" | "body" | "origin">,
): Promise<string | undefined> {
  if (!body.draft) return undefined;
  if (!isSession) throw new ServiceError("forbidden", "draft needs a session: an API key cannot try unsaved changes");
  try {
    const change = updateAgentRequest(ownerId, body.agent_id, body.draft);
    const asksStartWebhook = body.asks_start_webhook === true;
    const agentVersion = testedVersionOf(body);
    return (await agents.createDraft({ change, agentVersion, asksStartWebhook }, { origin })).draftId;
  } catch (error) {
    throw error instanceof ServiceError ? inDraft(error) : error;
  }
}

function inDraft(error: ServiceError): ServiceError {
  const { kind, detail, retryAfterMs, metadata, cause } = error;
  // The message of a broken rule begins with the field; that of a missing object does not.
  const before = kind === "not_found" ? "" : "draft.";
  const violations = error.violations.map(({ path, message }) => ({
    path: `draft.${path}`,
    message: `${before}${message}`,
  }));
  return new ServiceError(kind, violations[0]?.message ?? detail, { violations, retryAfterMs, metadata, cause });
}
