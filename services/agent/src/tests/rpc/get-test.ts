import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../../context.ts";
import { getTestRow, toAgentTest } from "../read-tests.ts";

export function getTest({ db }: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getTest"]> {
  return async (key) => ({ test: toAgentTest(await getTestRow(db, key)) });
}
