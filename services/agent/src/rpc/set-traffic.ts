import { SetTrafficResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { AgentContext, Handler } from "../context.ts";
import { publish } from "../versions/publish.ts";
import { allSlots, checkSplit, moveSlots } from "../versions/slots.ts";

export function setTraffic(ctx: AgentContext): Handler<"setTraffic"> {
  return async (request, call) => {
    const { split } = request;
    checkSplit(split);
    const numbers = split.map(({ agentVersion }) => agentVersion);
    const fieldOf = (at: number) => `split.${at}.agent_version`;
    return publish(ctx, { ...request, codec: SetTrafficResponse, fieldOf }, numbers, call, (row) => {
      const { publishedVersion, publishedNumbers, traffic } = row;
      if (publishedVersion === null)
        throw new ServiceError("conflict", "Agent has no published version: publish one before you split its traffic");
      // Callers keep their slots while a split changes.
      const { slots: before, salt } = traffic ?? { slots: allSlots(publishedVersion), salt: newUuid() };
      return {
        state: { publishedVersion, publishedNumbers, traffic: { split, salt, slots: moveSlots(before, split) } },
        entry: { kind: "traffic", split },
      };
    });
  };
}
