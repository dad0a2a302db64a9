import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import type { Intake } from "../../threads/intake.ts";
import type { ChannelContext, ThreadedChannel } from "../channel.ts";
import type { Connections } from "./connections.ts";

/** The context of WhatsApp's RPCs. */
export interface WhatsAppContext extends ChannelContext {
  connections: Connections;
  /** What the threads know of the channel. */
  channel: ThreadedChannel;
  intake: Intake;
  /** Callbacks that are being verified. */
  verifyFewAtOnce: FewAtOnce;
  countRefused(reason: "unknown" | "signature"): void;
}
