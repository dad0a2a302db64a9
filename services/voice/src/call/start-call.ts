import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { CommandAnswer } from "../store/call-commands.ts";
import type { CallKey } from "../store/calls.ts";
import { REJECTED } from "./call-over.ts";
import { follow } from "./follow-call.ts";
import type { CallCommand } from "./operator/commands.ts";
import { type CallRequest, type CallUnderWay, type Connect, NotConnected, type StartCall } from "./port.ts";
import { findAgent, type Prepared, prepare, STARTS_WITHIN_MS, type StartCallOptions } from "./prepare-call.ts";
import { queuedAudio } from "./queued-audio.ts";
import type { CallSignal } from "./signals.ts";
import { untilAnswered } from "./transcript.ts";

/** Holds the calls of this process. */
export interface CallHolder {
  start: StartCall;
  /**
   * @returns how long the agent's start webhook may take, in milliseconds, 0 if none is asked; and the version that was checked
   * @throws ServiceError as `start` does, if the call could not be held because of its agent
   */
  check(request: CallRequest): Promise<{ startWebhookMs: number; agentVersion?: number | undefined }>;
  /** @throws ServiceError rate_limited when the owner has its maximum number of calls */
  checkPlace(ownerId: string): Promise<void>;
  /** Passes a signal on, if the call is here. */
  signal(call: CallKey, signal: CallSignal): void;
  /** Does what an operator wants, if the call is here. @returns what came of it; null if the call is elsewhere */
  command(call: CallKey, command: CallCommand): Promise<CommandAnswer | null>;
  /** Somebody watches the call, which may be here. */
  watched(call: CallKey): void;
  underWay(): number;
  /** Waits until the calls in progress have ended, or ends them after this many milliseconds. */
  drain(ms: number): Promise<void>;
}

export function callHolder(options: StartCallOptions): CallHolder {
  const underWay = new Map<string, Pick<Prepared, "held" | "reports" | "listeners"> & { ended: Promise<unknown> }>();
  const queued = queuedAudio();
  return {
    check: async (request) => {
      const { setup } = await findAgent(options, request, request.conversationId);
      return { startWebhookMs: setup.startWebhookMs, agentVersion: setup.agentVersion };
    },
    checkPlace: options.live.checkPlace,
    signal: (call, signal) => {
      const held = underWay.get(nameOf(call))?.held;
      if (signal === "hang_up") held?.hangUp("operator_ended");
      // Like the end of its leg, which may come later.
      if (signal === "carrier_ended") held?.listener.ended("hung_up");
      if (signal === "machine_answered") held?.machineAnswered();
      if (signal === "machine_ready") held?.machineReady();
    },
    command: async (call, command) => {
      const found = underWay.get(nameOf(call));
      if (!found) return null;
      if (command.$case === "listen") return found.listeners.connect(command.value);
      if (command.$case !== "leave") return { refusal: found.held.command(command) };
      found.listeners.leave(command.value);
      return { refusal: null };
    },
    watched: (call) => underWay.get(nameOf(call))?.reports.watched(),
    start: async (request, connect) => {
      const parts = request.test ? unnoticed(options) : options;
      if (options.stopping.aborted) throw new ServiceError("unavailable", "This process is stopping. Try again.");
      const key = { ownerId: request.ownerId, conversationId: request.conversationId ?? newUuid() };
      await options.live.take(key, request.farEnd ?? null);
      let mayHaveBegun = false;
      try {
        const agent = await untilAnswered(
          options.clock,
          () => findAgent(options, request, key.conversationId),
          STARTS_WITHIN_MS,
        );
        mayHaveBegun = true;
        const { held, recorder, listeners, isRejected, reports } = await prepare(parts, request, key, agent);
        // Nobody is called to be rejected.
        const reach = isRejected && isOutbound(request) ? neverConnected : connect;
        const ended = follow({ ...parts, queued }, request, key, held, recorder, reach).finally(() =>
          underWay.delete(nameOf(key)),
        );
        underWay.set(nameOf(key), { held, reports, listeners, ended });
        return {
          conversationId: key.conversationId,
          ended,
          hangUp: () => held.hangUp("operator_ended"),
        } satisfies CallUnderWay;
      } catch (error) {
        // If only the answer was lost, or something else failed, the conversation exists: the process that finds the call ends it.
        const isToBeEnded = mayHaveBegun && !request.isAskedAgain;
        const leave = isToBeEnded ? options.live.abandon(key) : options.live.release(key);
        await leave.catch((err) =>
          options.log.warn({ err }, "could not free the place of a call that did not begin; it expires within seconds"),
        );
        throw error;
      }
    },
    underWay: () => underWay.size,
    drain: async (ms) => {
      const all = () => Promise.all([...underWay.values()].map(({ ended }) => ended));
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const stop = options.clock.after(ms, resolve);
      await Promise.race([all(), late]);
      stop();
      for (const { held } of underWay.values()) held.fail("The voice service stopped");
      await all();
    },
  };
}

/** What a test's call does not do: call people, count for its owner, or tell of itself. A transfer ends it. */
function unnoticed(options: StartCallOptions): StartCallOptions {
  const { dialPerson, transferring, transferred, transferEnded, measured, ...others } = options;
  return others;
}

function isOutbound({ channel }: CallRequest): boolean {
  return channel.type === "TELEPHONY" && channel.callingType === "OUTBOUND";
}

const neverConnected: Connect = async () => {
  throw new NotConnected("cancelled", REJECTED);
};

function nameOf({ ownerId, conversationId }: CallKey): string {
  return `${ownerId} ${conversationId}`;
}
