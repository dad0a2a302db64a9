import type { BenchStack } from "./stack.ts";

/** An agent as the public API shows it. */
export type PublicAgent = { id: string } & Record<string, unknown>;

/** A typical prompt of about 1 KB, with one variable. */
export const PROMPT = `You are Ada, the friendly front desk of {{company}}. ${Array.from(
  { length: 12 },
  (_, at) => `Rule ${at + 1}: answer briefly and politely, ask one question at a time, never promise a price.`,
).join(" ")}`;

/** Creates an agent with these fields and that prompt. @returns the API's response */
export async function createAgent(stack: BenchStack, fields: Record<string, unknown>): Promise<PublicAgent> {
  return (await create(stack, "agents", { agent_type: "INBOUND", prompt_content: PROMPT, ...fields })) as PublicAgent;
}

/** Creates a tool of the owner's library. @returns its id */
export async function createTool(stack: BenchStack, fields: Record<string, unknown>): Promise<string> {
  const { id } = (await create(stack, "tools", fields)) as { id: string };
  return id;
}

async function create({ url, apiKey }: BenchStack, kind: "agents" | "tools", body: object): Promise<unknown> {
  const response = await fetch(`${url}/v1/public/${kind}`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST /${kind} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
