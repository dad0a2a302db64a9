import type { AgentContext, Handler } from "../../context.ts";
import { getTestRow, toAgentTest } from "../read-tests.ts";

export function getTest({ db }: AgentContext): Handler<"getTest"> {
  return async (key) => ({ test: toAgentTest(await getTestRow(db, key)) });
}
