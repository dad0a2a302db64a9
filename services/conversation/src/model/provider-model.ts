import type { Answer } from "@parley/shared/egress/answer";
import { type Meter, meterBodies } from "@parley/shared/egress/meter";
import { answerReader } from "./answers/answer-reader.ts";
import { withoutUnopenedThoughts } from "./answers/leading-thoughts.ts";
import type { Protocol } from "./answers/protocol.ts";
import { brokenAnswer, emptyAnswer, failureOf, isBrokenConnection } from "./failure.ts";
import type { Model, ModelEnd, ModelReply, ModelRequest, ReplyMode } from "./port.ts";
import { requestSignal } from "./request-signal.ts";
import { type Endpoint, requestSender } from "./requests/request-sender.ts";
import { upstreamReason } from "./upstream-reason.ts";

/**
 * A model of a provider. The AI SDK writes the requests, in which the providers differ. The answers are read here
 * (docs/decisions/0019-one-reader-of-model-answers.md).
 */
export function providerModel(protocol: Protocol, endpoint: Endpoint): Model {
  const { by } = endpoint;
  const sender = requestSender(endpoint);

  /** @param hear takes the words of the reply as they come; the last ones are returned */
  async function ask(
    mode: ReplyMode,
    request: ModelRequest,
    signal: AbortSignal,
    hear: (text: string) => Promise<void> | null,
  ): Promise<{ text: string } & ModelEnd> {
    const { mayBeEmpty = false, meter } = request;
    const connection = requestSignal(signal);
    const metering = metered(meter, connection.signal);
    let body: Answer | undefined;
    let isOver = false;
    try {
      const { answer, secrets } = await sender.ask(request, mode, connection.signal);
      body = answer;
      const reasonIn = (error: unknown) => upstreamReason(error, secrets);
      const reader = answerReader({ by, protocol, mayBeEmpty, reasonIn });
      const decoder = new TextDecoder();
      /** Words that arrived together are passed on together: each piece costs CPU in every process. */
      const read = (chunks: readonly Uint8Array[]) => {
        const text = reader.read(chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join(""));
        if (text !== "" && mode === "streamed") metering.passedOn();
        const wait = text === "" ? null : hear(text);
        if (reader.failure) throw reader.failure;
        return wait;
      };
      const next = async () => {
        if (reader.isOver) return null;
        try {
          return await (reader.isEnding ? connection.readRest(answer) : answer.read());
        } catch (error) {
          if (reader.hasEnded && isBrokenConnection(error)) return null;
          throw error;
        }
      };
      for (let chunks = await next(); chunks; chunks = await next()) {
        const wait = read(chunks);
        if (wait) await wait;
      }
      isOver = reader.isOver && !reader.isDocument;
      return reader.end();
    } catch (error) {
      throw failureOf(isBrokenConnection(error) ? brokenAnswer(by.provider, error) : error, by.provider, signal);
    } finally {
      metering.end();
      if (body && isOver) connection.keep(body);
      else connection.close(body);
    }
  }

  return {
    ...by,
    async stream(request, signal, hear) {
      const { text, ...end } = await ask("streamed", request, signal, (said) => hear(said, by));
      if (text !== "") await hear(text, by);
      return end;
    },
    async complete(request, signal) {
      let said = "";
      const { text, ...end } = await ask("whole", request, signal, (heard) => {
        said += heard;
        return null;
      });
      const reply = { ...end, text: withoutUnopenedThoughts(said + text) };
      const isEmpty = reply.text === "" && reply.toolCalls.length === 0;
      if (isEmpty && !request.mayBeEmpty) throw emptyAnswer(by.provider, reply.partialReason);
      return request.answer ? answeredByTool(reply) : reply;
    },
  };
}

/** Models without structured answers are given the schema as a tool, whose arguments then are the answer. */
const ANSWER_TOOL = "json";

function answeredByTool(reply: ModelReply): ModelReply {
  const call = reply.toolCalls.find(({ name }) => name === ANSWER_TOOL);
  return call && reply.text === "" ? { ...reply, text: call.json, toolCalls: [] } : reply;
}

/** Smaller amounts are not reported: most whole answers are smaller. */
const RECEIVED_TOLD = 32 * 1024;

/** What has become of the bytes of one answer. */
interface Received {
  /** The text of what has arrived has been passed on. */
  passedOn(): void;
  /** What still arrives is not counted. */
  end(): void;
}

/** Reports the bytes received of an answer and not yet passed on. */
function metered(meter: Meter | undefined, signal: AbortSignal): Received {
  let held = 0;
  let isOver = false;
  if (meter) {
    const received = (bytes: number) => {
      if (isOver) return;
      held += bytes;
      if (held > RECEIVED_TOLD) meter.received(held);
    };
    meterBodies(signal, { ...meter, received });
  }
  return {
    passedOn: () => {
      held = 0;
    },
    end: () => {
      isOver = true;
    },
  };
}
