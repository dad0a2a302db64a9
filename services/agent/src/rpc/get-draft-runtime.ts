import type { AgentContext, Handler } from "../context.ts";
import { toRuntime } from "../convert.ts";
import { getDraft } from "../drafts/get-draft.ts";
import { readLibraryTools } from "../tools/read-tools.ts";

export function getDraftRuntime(ctx: AgentContext): Handler<"getDraftRuntime"> {
  return async (key, call) => {
    const { row: stored, prompt, analysisPrompt, asksStartWebhook, tools } = await getDraft(ctx, key);
    const row = asksStartWebhook ? stored : { ...stored, startWebhook: null };
    const customTools = await readLibraryTools(ctx, row, tools, call.log);
    return { runtime: toRuntime({ row, agentVersion: 0, prompt, analysisPrompt, customTools }, ctx) };
  };
}
