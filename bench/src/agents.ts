import type { BenchStack } from "./stack.ts";

/** An agent as the public API shows it. */
export type PublicAgent = { id: string } & Record<string, unknown>;

/** A typical prompt of about 1 KB, with one variable. */
export const PROMPT = `You are Ada, the friendly front desk of {{company}}. ${Array.from(
  { length: 12 },
  (_, at) => `Rule ${at + 1}: answer briefly and politely, ask one question at a time, never promise a price.`,
).join(" ")}`;

/** Creates an agent with these fields and that prompt. @returns the API's response */
export async function createAgent({ url, apiKey }: BenchStack, fields: Record<string, unknown>): Promise<PublicAgent> {
  const response = await fetch(`${url}/v1/public/agents`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({ agent_type: "INBOUND", prompt_content: PROMPT, ...fields }),
  });
  if (!response.ok) throw new Error(`An agent could not be created: ${response.status} ${await response.text()}`);
  return (await response.json()) as PublicAgent;
}
