import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../../context.ts";
import { checkAgentId, getAgentRow } from "../../read-agents.ts";
import { toAgentTest } from "../read-tests.ts";
import { listTestRows } from "../store/tests.ts";

export function listTests({ db }: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["listTests"]> {
  return async (key) => {
    checkAgentId(key.agentId);
    await getAgentRow(db, key);
    return { tests: (await listTestRows(db, key)).map(toAgentTest) };
  };
}
