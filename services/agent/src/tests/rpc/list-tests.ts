import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow } from "../../read-agents.ts";
import { toAgentTest } from "../read-tests.ts";
import { listTestRows } from "../store/tests.ts";

export function listTests({ db }: AgentContext): Handler<"listTests"> {
  return async (key) => {
    checkAgentId(key.agentId);
    await getAgentRow(db, key);
    return { tests: (await listTestRows(db, key)).map(toAgentTest) };
  };
}
