import type { ChannelContext } from "../channel.ts";
import type { WidgetTokens } from "./token.ts";

/** The context of the widget's RPCs. */
export interface WidgetContext extends Pick<ChannelContext, "db" | "agents" | "clock"> {
  tokens: WidgetTokens;
  /** The most messages a day from all visitors to an owner's agents. */
  messagesPerDay: number;
  /** The most messages a day from one address of visitors to an owner's agents. */
  messagesPerAddress: number;
}
