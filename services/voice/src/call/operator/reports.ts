import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallReport } from "@parley/proto/parley/conversation/v1/live.ts";
import { AGENT_STATES, TRANSFER_STATES } from "@parley/shared/domain/api-names";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { codePoints } from "@parley/shared/text/length";
import type { CallKey } from "../../store/calls.ts";
import type { CallNews } from "../port.ts";

/** Reports a call to those who watch it, while somebody does. */
export interface CallReports {
  news(news: CallNews): void;
  transfer(to: string, state: keyof typeof TRANSFER_STATES): void;
  /** Somebody watches. */
  watched(): void;
}

const ROLES = { user: Role.ROLE_USER, agent: Role.ROLE_ASSISTANT } as const;
/** More than come while one report is answered; older ones are not worth keeping. */
const WAITING_MAX = 100;

export function callReports(
  conversations: Pick<ServiceClient<typeof ConversationServiceService>, "reportCall">,
  key: CallKey,
): CallReports {
  let isWatched = false;
  let isSending = false;
  let waiting: CallReport[] = [];
  /** What watchers know of the messages in progress. */
  const told = { user: "", agent: "" };
  const speaking = { user: false, agent: false };

  function report(report: NonNullable<CallReport["report"]>): void {
    if (!isWatched) return;
    waiting.push({ report });
    if (waiting.length > WAITING_MAX) waiting.shift();
    void send();
  }

  async function send(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0) {
      const reports = waiting;
      waiting = [];
      // Captions are not worth a second attempt.
      const { isUnwatched } = await conversations.reportCall({ ...key, reports }).catch(() => ({ isUnwatched: false }));
      if (isUnwatched) isWatched = false;
    }
    isSending = false;
  }

  function speaks(who: keyof typeof ROLES, isSpeaking: boolean): void {
    if (speaking[who] === isSpeaking) return;
    speaking[who] = isSpeaking;
    report({ $case: "speaking", value: { role: ROLES[who], isSpeaking } });
  }

  function says(who: keyof typeof ROLES, text: string, isFinal: boolean): void {
    if (who === "user") speaks("user", !isFinal);
    if (isFinal || !isWatched) {
      told[who] = "";
      return;
    }
    const before = told[who];
    let same = 0;
    while (same < before.length && before[same] === text[same]) same++;
    told[who] = text;
    if (same === text.length && same === before.length) return;
    const words = { seq: 0, role: ROLES[who], offset: codePoints(text.slice(0, same)), text: text.slice(same) };
    report({ $case: "words", value: words });
  }

  return {
    news(news) {
      if (news.type === "user" || news.type === "agent") says(news.type, news.text, news.isFinal);
      else if (news.type === "state") {
        report({ $case: "agent", value: AGENT_STATES[news.state] });
        speaks("agent", news.state === "speaking");
      }
    },
    transfer: (to, state) => report({ $case: "transfer", value: { to, state: TRANSFER_STATES[state] } }),
    watched() {
      isWatched = true;
    },
  };
}
