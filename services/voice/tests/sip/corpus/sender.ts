import { expect } from "bun:test";
import { connect } from "node:net";
import { silentLogger } from "@parley/shared/log";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import { eventually } from "@parley/testkit/eventually";
import type { CallRequest } from "../../../src/call/port.ts";
import { ADMISSIONS, answerInvite, type InviteContext } from "../../../src/sip-calls/answer-invite.ts";
import { confirmations } from "../../../src/sip-calls/confirmations.ts";
import { digestLimits } from "../../../src/sip-calls/digest-limits.ts";
import { isRequest, readSip, type SipResponse } from "../../../src/transport/sip/messages/message.ts";
import { listening } from "../../listening.ts";
import { phone } from "../phones.ts";

/** What became of a message. */
export interface Outcome {
  /** The final answer; null if the message was dropped. */
  status: number | null;
  /** The caller's number; absent if it is withheld or unknown. */
  caller?: string;
  /** The number that was called. */
  called?: string;
  /** The audio that the answer describes: protocol, payload types and direction. */
  audio?: string;
}

/** What a row is, the message, and what is right. */
export type Row = readonly [title: string, message: string, right: Outcome];

/** A final answer in a stream, and its call. */
const FINAL = /^SIP\/2\.0 ([2-6]\d\d) [\s\S]*?^Call-ID: (.*)\r$/gm;

/** A user agent that answers calls to every number, and a peer that sends it what a test says, from one UDP socket. */
export async function startSender() {
  const requests: CallRequest[] = [];
  const agent = listening();
  const ctx: InviteContext = {
    accounts: { findTrunk: async () => ({ carrier: undefined }) },
    agents: {
      findCallee: async ({ called }) => ({
        agent: called.startsWith("+") ? { ownerId: "own_1", agentId: "agt_1" } : undefined,
      }),
    },
    addressesOf: async () => [],
    admitFewAtOnce: fewAtOnce(ADMISSIONS),
    confirm: confirmations(),
    limitDigests: digestLimits(() => 0),
    isLoopbackOpen: true,
    checkCall: async () => {},
    startCall: async (request, connect) => {
      requests.push(request);
      await connect(agent.to, new AbortController().signal, async () => {});
      return { conversationId: "1", ended: new Promise(() => {}), hangUp: () => {} };
    },
    announce: async () => false,
    log: silentLogger,
  };
  const answering = await phone((invite) => void answerInvite(ctx, invite));
  const answers: SipResponse[] = [];
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data: (_socket, bytes) => {
        const message = readSip(bytes);
        if (message && !isRequest(message)) answers.push(message);
      },
    },
  });
  const rtp = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => {} } });

  const filled = (text: string): Buffer => {
    const id = crypto.randomUUID();
    const named = text
      .replaceAll("RTP_PORT", String(rtp.port))
      .replaceAll("PORT", String(socket.port))
      .replaceAll("UNIQUE", id);
    // No text in any encoding: the byte 0xff is never part of one.
    const bytes = Buffer.from(named.replaceAll("BYTES", "\u00ff"), named.includes("BYTES") ? "latin1" : "utf8");
    const length = String(bytes.length - bytes.indexOf("\r\n\r\n") - 4);
    const at = bytes.indexOf("LENGTH");
    return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), Buffer.from(length), bytes.subarray(at + 6)]);
  };

  return {
    answering,
    /** Sends a message, and waits until it is answered or dropped. */
    outcomeOf: async (text: string): Promise<Outcome> => {
      const dropped = () => answering.dropped.malformed_sip ?? 0;
      const before = dropped();
      socket.send(filled(text), answering.server.port, "127.0.0.1");
      const answer = await eventually(() => {
        const final = answers.find(({ status }) => status >= 200);
        if (!final && dropped() === before) throw new Error(`only ${answers.map(({ status }) => status)}`);
        return final ?? null;
      });
      const audio = /^m=audio [1-9]\d* (RTP.*)$/m.exec(answer?.body ?? "")?.[1];
      const direction = /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m.exec(answer?.body ?? "")?.[1];
      const channel = requests[0]?.channel;
      const { fromMobileNumber: caller, toMobileNumber: called } =
        channel?.type === "TELEPHONY" && channel.callingType === "INBOUND" ? channel : {};
      return {
        status: answer?.status ?? null,
        ...(caller && { caller }),
        ...(called && { called }),
        ...(audio && { audio: `${audio.trim()} ${direction}` }),
      };
    },
    /** Sends messages in one stream, so many bytes at a time, each when the one before is answered. @returns their final answers */
    answersOverTcp: async (texts: readonly string[], bytesAtOnce: number): Promise<number[]> => {
      // An answer that is not confirmed is repeated.
      const statuses = new Map<string, number>();
      let arrived = "";
      const stream = connect(answering.server.port, "127.0.0.1").setEncoding("utf8").setNoDelay(true);
      stream.on("data", (text: string) => {
        arrived += text;
        for (const [, status, call = ""] of arrived.matchAll(FINAL)) statuses.set(call, Number(status));
      });
      for (const [index, text] of texts.entries()) {
        const bytes = filled(text.replace("SIP/2.0/UDP", "SIP/2.0/TCP"));
        for (let at = 0; at < bytes.length; at += bytesAtOnce) stream.write(bytes.subarray(at, at + bytesAtOnce));
        await eventually(() => expect(statuses.size).toBe(index + 1));
      }
      stream.destroy();
      return [...statuses.values()];
    },
    stop: () => {
      socket.close();
      rtp.close();
    },
  };
}
