import type { components } from "../../api/gen/schema.ts";
import { onFirstUse } from "../../ui/numbers.ts";

type Named = Pick<components["schemas"]["Agent"], "id" | "agent_name" | "published_mobile_number" | "updated_at">;

const day = onFirstUse(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }));
/** The last characters of an ID: its beginning is the time at which it was made. */
const ID_END = 4;

/** The agents' names by ID. Agents with one name have their first number, or else their last edit, and their ID's end beside it. */
export function distinctNames(agents: readonly Named[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const { agent_name } of agents) counts.set(agent_name, (counts.get(agent_name) ?? 0) + 1);
  return new Map(
    agents.map((agent) => [
      agent.id,
      (counts.get(agent.agent_name) ?? 0) > 1 ? `${agent.agent_name} (${markOf(agent)})` : agent.agent_name,
    ]),
  );
}

function markOf({ id, published_mobile_number: [number], updated_at }: Named): string {
  return `${number ?? `edited ${day().format(new Date(updated_at))}`}, …${id.slice(-ID_END)}`;
}
