import type { AnalysisSettings, PromptSource } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { type Prompt, PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { AcquirePromptsRequest, PromptUse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Call } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";
import type { AgentRow, StoredReference } from "../store/agents.ts";
import type { HeldClaim } from "./claim.ts";

export interface AcquiredPrompts {
  main: AcquiredPrompt | null;
  analysis: AcquiredPrompt | null;
}

interface AcquiredPrompt {
  reference: StoredReference;
  prompt: Prompt;
}

/** The prompts that a change gives an agent. */
interface GivenPrompts {
  prompt: PromptSource | undefined;
  analysis: AnalysisSettings | undefined;
}

export const NO_PROMPTS: AcquiredPrompts = { main: null, analysis: null };

export function givesPrompts({ prompt, analysis }: GivenPrompts): boolean {
  return prompt?.source !== undefined || analysis?.prompt?.source !== undefined;
}

/** Acquires the references that a change gives an agent; null for a prompt that the change does not mention. */
export async function acquirePrompts(
  ctx: AgentContext,
  agent: Pick<AgentRow, "ownerId" | "agentId" | "agentName">,
  given: GivenPrompts,
  { revision }: HeldClaim,
  call: Call,
): Promise<AcquiredPrompts> {
  return ask(ctx, agent, given, { revision, preview: false }, call);
}

/** The same without writing anything: an inline content has version 0. */
export async function previewPrompts(
  ctx: AgentContext,
  agent: Pick<AgentRow, "ownerId" | "agentId" | "agentName">,
  given: GivenPrompts,
  call: Call,
): Promise<AcquiredPrompts> {
  return ask(ctx, agent, given, { revision: undefined, preview: true }, call);
}

async function ask(
  ctx: AgentContext,
  agent: Pick<AgentRow, "ownerId" | "agentId" | "agentName">,
  { prompt, analysis }: GivenPrompts,
  how: Pick<AcquirePromptsRequest, "revision" | "preview">,
  call: Call,
): Promise<AcquiredPrompts> {
  const mainUse = use(PromptType.PROMPT_TYPE_MAIN, prompt);
  const analysisUse = use(PromptType.PROMPT_TYPE_ANALYSIS, analysis?.prompt);
  const uses = [mainUse, analysisUse].filter((wanted) => wanted !== null);
  if (uses.length === 0) return NO_PROMPTS;
  const { ownerId, agentId, agentName } = agent;
  const { acquired } = await ctx.prompts.acquirePrompts(
    { ownerId, agentId, agentName, uses, ...how },
    { origin: call },
  );
  const taken = (wanted: PromptUse | null): AcquiredPrompt | null => {
    const got = wanted && acquired[uses.indexOf(wanted)];
    if (!got?.reference || !got.prompt) return null;
    const { promptName, promptVersion = null, promptLabel = null } = got.reference;
    return { reference: { promptName, promptVersion, promptLabel }, prompt: got.prompt };
  };
  return { main: taken(mainUse), analysis: taken(analysisUse) };
}

function use(promptType: PromptType, source: PromptSource | undefined): PromptUse | null {
  return source?.source ? { promptType, source: source.source } : null;
}
