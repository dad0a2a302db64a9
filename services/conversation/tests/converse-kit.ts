import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  type ConverseRequest,
  type ConverseResponse,
  HeardReply,
  SpokenTurn,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { type CallKey, callOf } from "./calls-kit.ts";
import type { ChatClient, TestAgent } from "./kit.ts";

/** A spoken turn in progress, as its runtime sees it. */
export interface SpokenTurnUnderWay {
  /** Reports what was heard. */
  hear(text: string, given?: Partial<HeardReply>): void;
  /** Reports it permanently. */
  heard(text: string, given?: Partial<HeardReply>): void;
  /** The next event. @throws what the stream fails with */
  next(): Promise<ConverseResponse["event"] | null>;
  /** The reply's text up to the next event that is not text, and that event. */
  reply(): Promise<{ text: string; event: ConverseResponse["event"] | null }>;
  /** Reads up to the end; returns the last sequence that is stored. */
  stored(): Promise<number>;
  /** Leaves without a final report. */
  leave(): void;
}

export async function startWebCall(chat: ChatClient, agent: TestAgent): Promise<CallKey> {
  const request = callOf(agent, {
    conversationId: newUuid(),
    type: ConversationType.CONVERSATION_TYPE_WEB,
    callingType: 0,
    toMobileNumber: undefined,
    fromMobileNumber: undefined,
    telephonyProvider: undefined,
  });
  await chat.startConversation(request);
  return { ownerId: agent.ownerId, conversationId: request.conversationId };
}

/** @param repeated what was heard on an earlier stream of the turn */
export function speakTurn(
  chat: ChatClient,
  key: CallKey,
  sequence: number,
  text = "When do you open?",
  repeated?: HeardReply,
  given: Partial<SpokenTurn> = {},
): SpokenTurnUnderWay {
  const gone = new AbortController();
  const turn = SpokenTurn.fromPartial({ ...key, sequence, text, ...given } as object);
  const waiting: ConverseRequest[] = [];
  let news = Promise.withResolvers<void>();
  let streams = 0;
  async function* requests(stream: number): AsyncGenerator<ConverseRequest> {
    yield { turn, heard: repeated };
    while (stream === streams) {
      yield* waiting.splice(0);
      await news.promise;
      news = Promise.withResolvers();
    }
  }
  const open = () =>
    chat.converse(requests(++streams), { origin: { requestId: "req", signal: gone.signal } })[Symbol.asyncIterator]();
  let responses = open();
  const report = (heard: Partial<HeardReply>) => {
    waiting.push({ turn: undefined, heard: HeardReply.fromPartial(heard) });
    news.resolve();
  };
  // The stream begins when it is read. A connection that is about to be replaced refuses it, and another one takes it.
  let begun: ReturnType<typeof responses.next> | null = responses.next().catch((error) => {
    if (!(error instanceof ServiceError) || error.kind !== "unavailable") throw error;
    responses = open();
    return responses.next();
  });
  begun.catch(() => {});
  const next = async () => {
    const { done, value } = await (begun ?? responses.next());
    begun = null;
    return done ? null : value.event;
  };
  const reply = async () => {
    for (let text = ""; ; ) {
      const event = await next();
      if (event?.$case !== "text") return { text, event };
      text += event.value;
    }
  };
  return {
    hear: (text, given) => report({ text, ...given }),
    heard: (text, given) => report({ text, isFinal: true, ...given }),
    next,
    reply,
    stored: async () => {
      for (;;) {
        const event = await next();
        if (event?.$case === "stored") {
          // The stream ends with it.
          await next();
          return event.value.lastSequence;
        }
        if (!event) throw new Error("the stream ended without `stored`");
      }
    },
    leave: () => gone.abort(),
  };
}
