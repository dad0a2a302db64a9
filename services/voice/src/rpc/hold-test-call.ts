import type { HoldTestCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { told } from "@parley/shared/rpc/told";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import type { Handler } from "../feature.ts";
import { holdTestCall as hold, type TestCallOptions } from "../test-calls/hold-test-call.ts";

type News = NonNullable<HoldTestCallResponse["news"]>;

/** As many as the agent service runs at once for an owner; more wait. */
const FEW = { what: "test calls", atOnce: 4, waitingMax: 16 };

export function holdTestCall(options: TestCallOptions): Handler<"holdTestCall"> {
  const few = fewAtOnce(FEW);
  return async function* (requests, call) {
    const steps = requests[Symbol.asyncIterator]();
    const { done, value: first } = await steps.next();
    if (done || !first.start) throw invalid("start", "The first request must start the call");
    const { start } = first;
    if (!isUuid(start.conversationId)) throw invalid("start.conversation_id", "conversation_id must be a UUID");
    const rest = { [Symbol.asyncIterator]: () => steps };
    const run = (tell: (news: News) => void) =>
      few(start.ownerId, call.signal, () => hold(options, start, rest, call, tell));
    for await (const news of told(call, run, "a test call failed after its caller had left")) yield { news };
  };
}
