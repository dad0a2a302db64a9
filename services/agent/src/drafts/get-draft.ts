import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { AgentContext } from "../context.ts";
import { type Draft, type DraftKey, findDraft } from "../store/drafts.ts";

/** @throws ServiceError not_found also when it has expired or belongs to another agent */
export async function getDraft({ db, clock }: AgentContext, key: DraftKey): Promise<Draft> {
  const draft = isId("drf", key.draftId) ? await findDraft(db, key, clock.now()) : null;
  if (!draft) throw notFound("Draft");
  return draft;
}
