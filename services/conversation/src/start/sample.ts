import type { Clock } from "@parley/shared/clock";
import { collectAllValues, type VariableValue } from "@parley/shared/domain/variables/values";
import { newUuid } from "@parley/shared/ids";
import { type Circumstances, systemVariables } from "./system-variables.ts";

/** A conversation that never is, to try something with. */
export function sampleOf(of: Partial<Circumstances>): Circumstances {
  return {
    conversationId: newUuid(),
    agentId: "",
    channel: "chat",
    direction: "inbound",
    caller: "",
    called: "",
    timezone: "UTC",
    beganAt: null,
    ...of,
  };
}

/** The values with which a tool is tried; those that are given for system variables count too. */
export function sampleValues(clock: Clock, given: Readonly<Record<string, unknown>>): Record<string, VariableValue> {
  return { ...systemVariables(sampleOf({}), clock.now()), ...collectAllValues({ dynamic_variables: given }) };
}
