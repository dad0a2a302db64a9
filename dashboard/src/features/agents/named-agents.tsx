import { useQuery } from "@tanstack/react-query";
import { agentNamesQuery } from "./agents.ts";

const AGENT_ID = /\bagt_[0-9a-z]{26}\b/g;

/** A sentence of the API with the names of the agents that it tells by their IDs. */
export function NamedAgents({ text }: { text: string }) {
  const names = useQuery(agentNamesQuery).data?.byId;
  return text.replace(AGENT_ID, (id) => (names?.has(id) ? `“${names.get(id)}”` : id));
}
