import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";
import type { AgentRow } from "../store/agents.ts";
import type { PromptUse } from "./prompt-use.ts";

/** Prompts that have been read for a request, by their use; undefined for a prompt that does not exist. */
type Prompts = ReadonlyMap<string, Prompt | undefined>;

const NONE: Prompts = new Map();

/**
 * Returns the prompt that each agent uses now.
 * @param read prompts already read for this request, which are not requested again
 */
export async function readPrompts(
  ctx: AgentContext,
  rows: readonly AgentRow[],
  origin?: CallOrigin,
  read = NONE,
): Promise<Map<AgentRow, Prompt | undefined>> {
  return resolve(ctx, rows, (row) => useOf(row.ownerId, row), origin, read);
}

/** The same for a page of a list. @throws ServiceError condition when the prompts are too large together */
export async function readPromptsOfPage(
  ctx: AgentContext,
  rows: readonly AgentRow[],
  origin?: CallOrigin,
): Promise<Map<AgentRow, Prompt | undefined>> {
  const using = rows.flatMap((row) => {
    const use = useOf(row.ownerId, row);
    return use ? [{ row, use }] : [];
  });
  if (using.length === 0) return new Map();
  const items = using.map(({ use }) => itemOf(use));
  const { results } = await ctx.prompts.batchGetPrompts({ items, forPage: true }, { origin });
  return new Map(using.map(({ row }, at) => [row, results[at]?.prompt]));
}

/** Returns the analysis prompt of each agent. */
export async function readAnalysisPrompts(
  ctx: AgentContext,
  rows: readonly AgentRow[],
  origin?: CallOrigin,
): Promise<Map<AgentRow, Prompt | undefined>> {
  return resolve(ctx, rows, (row) => row.analysis && useOf(row.ownerId, row.analysis), origin, NONE);
}

/**
 * Reads the prompts that the agents used when this process last read them, concurrently with the agents instead of
 * after them. The agent's row decides which prompt it uses now; whatever fails here is read again then.
 */
export async function readExpectedPrompts(
  ctx: AgentContext,
  keys: readonly AgentKey[],
  origin?: CallOrigin,
): Promise<Prompts> {
  const uses = keys.flatMap((key) => ctx.lastUses.get(idOf(key)) ?? []);
  return fetchPrompts(ctx, uses, origin).catch(() => NONE);
}

/** Remembers the prompts that these agents use, for `readExpectedPrompts`. */
export function rememberUses(ctx: AgentContext, rows: readonly AgentRow[]): void {
  for (const row of rows) {
    const use = useOf(row.ownerId, row);
    if (use) ctx.lastUses.set(idOf(row), use);
    else ctx.lastUses.delete(idOf(row));
  }
}

async function resolve(
  ctx: AgentContext,
  rows: readonly AgentRow[],
  useOfRow: (row: AgentRow) => PromptUse | null,
  origin: CallOrigin | undefined,
  read: Prompts,
): Promise<Map<AgentRow, Prompt | undefined>> {
  const using = rows.flatMap((row) => {
    const use = useOfRow(row);
    return use ? [{ row, use, id: idOfUse(use) }] : [];
  });
  const unread = using.filter(({ id }) => !read.has(id)).map(({ use }) => use);
  const fetched = await fetchPrompts(ctx, unread, origin);
  return new Map(using.map(({ row, id }) => [row, read.get(id) ?? fetched.get(id)]));
}

async function fetchPrompts(ctx: AgentContext, uses: readonly PromptUse[], origin?: CallOrigin): Promise<Prompts> {
  if (uses.length === 0) return NONE;
  const items = uses.map(itemOf);
  const { results } = await ctx.prompts.batchGetPrompts({ items, forPage: false }, { origin });
  return new Map(uses.map((use, at) => [idOfUse(use), results[at]?.prompt]));
}

function itemOf({ ownerId, promptName, promptVersion }: PromptUse) {
  return { ownerId, reference: { promptName, promptVersion: promptVersion ?? undefined } };
}

function useOf(ownerId: string, { promptName, promptVersion }: Pick<AgentRow, "promptName" | "promptVersion">) {
  return promptName ? { ownerId, promptName, promptVersion } : null;
}

function idOfUse({ ownerId, promptName, promptVersion }: PromptUse): string {
  return `${ownerId} ${promptVersion} ${promptName}`;
}

export function idOf({ ownerId, agentId }: AgentKey): string {
  return `${ownerId} ${agentId}`;
}
