import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toRuntime } from "../convert.ts";
import { getDraft } from "../drafts/get-draft.ts";

export function getDraftRuntime(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["getDraftRuntime"]> {
  return async (key) => {
    const { row, prompt, analysisPrompt } = await getDraft(ctx, key);
    return { runtime: toRuntime(row, prompt, analysisPrompt, ctx) };
  };
}
