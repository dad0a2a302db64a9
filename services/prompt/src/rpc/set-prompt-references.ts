import type { PromptReference } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { isLabel } from "../labels/label.ts";
import { beginReferenceChange } from "../reference-change.ts";
import { promptNameFault } from "../rules.ts";
import { deleteInternalPrompts, holdPrompts, type Reference, replaceReferences } from "../store/references.ts";

export function setPromptReferences(ctx: PromptContext): Handler<"setPromptReferences"> {
  return async ({ ownerId, agentId, agentName, references, agentGone, revision }, call) => {
    const agent = { ownerId, agentId, agentName };
    const names = new Set(references.map(({ promptName }) => promptName));
    const possible = [...names].filter((name) => promptNameFault(name) === null);
    const held = await ctx.db.begin(async (tx) => {
      if (agentGone) await lockStoredBytes(tx, ownerId);
      await beginReferenceChange(tx, { ...agent, revision, agentGone }, ctx.clock);
      const existing = await holdPrompts(tx, ownerId, possible);
      await replaceReferences(
        tx,
        agent,
        references.filter(({ promptName }) => existing.has(promptName)).map(toReference),
      );
      if (agentGone) {
        await deleteInternalPrompts(tx, ownerId, agentId);
      }
      return existing;
    });
    // Logs instead of failing, because the caller would retry forever and no retry restores a prompt.
    if (held.size < names.size) {
      call.log.warn({ owner_id: ownerId, agent_id: agentId }, "an agent refers to a prompt that does not exist");
    }
    return {};
  };
}

/** No label has another form, and the database refuses some of the texts that have. */
function toReference({ promptName, promptLabel }: PromptReference): Reference {
  return { promptName, promptLabel: promptLabel !== undefined && isLabel(promptLabel) ? promptLabel : null };
}
